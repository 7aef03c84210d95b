// Samplers whose design moves, by Geweke's (2004) test: in turns a sweep given the response and the
// response given what was drawn leave the joint law of both. That of all but the response has a
// density of
//
//   p(theta) p(s) N(b; 0, s^2 I) prod_i Z(f_i),   Z(f) = sum over y of the likelihood,
//
// which is the prior where the likelihood is normalised, and expectations under it are those of
// independent draws of the prior with weights prod Z.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>

#include "chain/sampler.hpp"
#include "kernel/points.hpp"
#include "parameter_data.hpp"
#include "replicates.hpp"
#include "rows/make_source.hpp"
#include "slice/slice_moving.hpp"

using namespace bsvm_test;

namespace {

constexpr double kNoise = 0.5;                           // sd of a number about f
constexpr double kPriorSd = 0.7, kDf = 8, kScale = 1.2;  // of log l, and of s
constexpr int kBatches = 40;

// Five rows of a squared exponential with four points; y is redrawn in place.
struct Small {
  explicit Small(const std::string& likelihood) : name(likelihood) {}

  Problem problem() {
    Problem out;
    out.n = x.size();
    out.y = y.data();
    out.likelihood = name == "normal"
                         ? Registry<Likelihood>::make(name, Params(name, {{"sd", kNoise}}))
                         : Registry<Likelihood>::make(name, Params());
    const auto view = [](const auto& m) { return Params::Array(m.data(), m.rows(), m.cols()); };
    std::vector<Params> parts;
    parts.emplace_back("kernel", std::map<std::string, double>(),
                       std::map<std::string, Params::Array>{{"points", view(points)},
                                                            {"start", view(start)},
                                                            {"moved_by", view(by)}},
                       std::vector<Params>{Params("se", se)});
    out.blocks.push_back(Registry<Block>::make(
        "gp", Params("gp", {{"free", 1}, {"multiplied", 0}}, {}, parts)));
    out.blocks[0]->take(x.data(), x.size(), 1);
    out.blocks[0]->find_parameters(0);
    PriorSlot slot;
    slot.prior =
        Registry<Prior>::make("half_t", Params("half_t", {{"df", kDf}, {"scale", kScale}}));
    slot.columns = range(0, points.size());
    out.priors.push_back(std::move(slot));
    out.priors.push_back(parameter_slot("log_normal", {{"sd", kPriorSd}}));
    check(out);
    return out;
  }

  Vec function(double theta, const Vec& b) const {
    Host host;
    const auto kernel = Registry<Kernel>::make("se", Params("se", se));
    const Features features(*kernel, points.transpose(), Vec::Constant(1, theta), host);
    return features.product(x.transpose(), b);
  }

  double log_row(double response, double f) const {
    const auto hinge = [&](double own) { return -2 * std::max(1 - own * f, 0.0); };
    if (name == "hinge") return hinge(response);
    return hinge(response) - std::log(std::exp(hinge(1)) + std::exp(hinge(-1)));
  }

  // sum_i log Z(f_i).
  double log_weight(const Vec& f) const {
    if (name == "normal") return 0;
    double out = 0;
    for (Index i = 0; i < f.size(); ++i)
      out += std::log(std::exp(log_row(1, f[i])) + std::exp(log_row(-1, f[i])));
    return out;
  }

  void draw_response(const Vec& f, std::mt19937_64& random) {
    for (Index i = 0; i < f.size(); ++i) {
      if (name == "normal") {
        y[i] = f[i] + kNoise * std::normal_distribution<double>()(random);
        continue;
      }
      const double odds = std::exp(log_row(1, f[i]) - log_row(-1, f[i]));
      y[i] = std::bernoulli_distribution(odds / (1 + odds))(random) ? 1 : -1;
    }
  }

  std::string name;
  Vec x = (Vec(5) << -1.4, -0.6, 0.1, 0.5, 1.3).finished(), y = Vec::Ones(5);
  Vec points = (Vec(4) << -1.4, -0.5, 0.4, 1.3).finished(), start = Vec::Zero(1),
      by = Vec::Ones(1);
  std::map<std::string, double> se = {{"variables", 1}, {"ard", 0}};
};

// Of theta, log s and f, none with heavy tails.
Vec quantities(double theta, double log_s, const Vec& f) {
  const Vec a = f.array().atan();
  Vec out(12);
  out << theta, theta * theta, log_s, std::min(log_s * log_s, 9.0), theta * std::max(log_s, -3.0),
      a[0], a[2], a[0] * a[0], a[0] * a[1], a[2] * a[3], theta * a[0] * a[1], a[0] * a[4];
  return out;
}

struct Expected {
  Vec mean, error;
};

Expected expected(const Small& data, int draws) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::chi_squared_distribution<double> square(kDf);
  Mat all(12, draws);
  Vec weight(draws);
  for (int k = 0; k < draws; ++k) {
    const double theta = kPriorSd * normal(random);
    const double s = kScale * std::abs(normal(random)) / std::sqrt(square(random) / kDf);
    Vec b(data.points.size());
    for (Index j = 0; j < b.size(); ++j) b[j] = s * normal(random);
    const Vec f = data.function(theta, b);
    all.col(k) = quantities(theta, std::log(s), f);
    weight[k] = std::exp(data.log_weight(f));
  }
  weight /= weight.sum();
  Expected out;
  out.mean = all * weight;
  out.error = ((all.colwise() - out.mean).cwiseAbs2() * weight.cwiseAbs2()).cwiseSqrt();
  return out;
}

// In turns; errors by means of batches.
Expected in_turns(Small& data, Chain& chain, int burnin, int sweeps) {
  std::mt19937_64 random(2);
  Host host;
  Draw draw;
  Mat batch = Mat::Zero(12, kBatches);
  const int each = sweeps / kBatches;
  for (int k = -burnin; k < each * kBatches; ++k) {
    chain.sweep(host);
    chain.read(draw);
    const double log_s = 0.5 * std::log(draw.hyper[0]), theta = 0.5 * std::log(draw.hyper[1]);
    const Vec f = data.function(theta, draw.coefficients);
    data.draw_response(f, random);
    if (k >= 0) batch.col(k / each) += quantities(theta, log_s, f) / each;
  }
  Expected out;
  out.mean = batch.rowwise().mean();
  batch.colwise() -= out.mean;
  out.error = (batch.rowwise().squaredNorm() / (kBatches * (kBatches - 1.0))).cwiseSqrt();
  return out;
}

void check_turns(const char* likelihood, bool gibbs) {
  constexpr int most = 15000;
  const int sweeps = replicates(most);
  INFO(std::string(likelihood), gibbs ? " gibbs" : " slice");
  Small data(likelihood);
  std::mt19937_64 random(3);
  data.draw_response(Vec::Zero(data.x.size()), random);
  const Problem problem = data.problem();
  constexpr int burnin = 300;
  const auto sampler =
      Registry<Sampler>::make("gibbs", Params("gibbs", {{"mixing", 1}}));
  const auto chain = gibbs ? sampler->start(problem, source_maker(problem), 1, 4, 0, burnin)
                           : moving_chain(problem, 4, 0, burnin);
  const Expected found = in_turns(data, *chain, burnin, sweeps), right = expected(data, 100000);
  const Vec z = (found.mean - right.mean)
                    .cwiseQuotient((found.error.cwiseAbs2() + right.error.cwiseAbs2()).cwiseSqrt());
  INFO("z ", z.transpose());
  INFO("errors ", found.error.transpose());
  CHECK(z.cwiseAbs().maxCoeff() < 4.5);
  CHECK(found.error.head(3).maxCoeff() * std::sqrt(1.0 * sweeps / most) < 0.05);  // it moves
}

}  // namespace

TEST_CASE("a design that moves: Gibbs sweeps of numbers in turns with the response") {
  check_turns("normal", true);
}

TEST_CASE("a design that moves: Gibbs sweeps of classes in turns with the response") {
  check_turns("hinge", true);
}

TEST_CASE("a design that moves: slice sweeps in turns with the response") {
  check_turns("normal", false);
  check_turns("hinge_normalized", false);
}
