#include "factors_chain.hpp"

#include <cmath>

#include "classifier.hpp"
#include "loadings.hpp"
#include "starts.hpp"

namespace bsvm {

namespace {

std::unique_ptr<Loadings> make_loadings(const SharedFactors& shared, Draws& random) {
  return shared.model.turned ? make_turned_loadings(shared, random)
                             : make_variable_loadings(shared, random);
}

class FactorsChain : public Chain {
 public:
  FactorsChain(const SharedFactors& shared, int threads, std::uint64_t seed, int chain)
      : FactorsChain(shared, threads, {seed, static_cast<std::uint32_t>(chain), 0},
                     Draws({seed, static_cast<std::uint32_t>(chain), 0}, Purpose::hyper, 0)) {}

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    const Vec beta = classifier_.beta();
    const Vec variances = loadings_->variances();
    draw.coefficients.resize(classifier_.coefficients().size() + variances.size());
    draw.coefficients << classifier_.coefficients(), variances;
    draw.expected = draw.coefficients;
    Implied implied = loadings_->implied(scores_.covariance() * beta, key());
    draw.hyper = numbers(implied.offset);
    draw.effects = std::move(implied.coefficients);
    draw.expected_effects = draw.effects;
    draw.unknowns = classifier_.links(scores_);
    const Index n = scores_.mean().rows(), size = scores_.mean().size();
    draw.law.resize(2 * size);
    Eigen::Map<Mat> mean(draw.law.data(), n, scores_.mean().cols()),
        square(draw.law.data() + size, n, scores_.mean().cols());
    mean = scores_.mean();
    square = mean.cwiseAbs2();
    for (Index i = 0; i < n; ++i) square.row(i) += scores_.covariance(i).diagonal();
  }

  void read_seldom(Vec& out) const override {
    out = loadings_->whole(scores_.covariance() * classifier_.beta(), key());
  }

 private:
  // `random` is used in the order of the members.
  FactorsChain(const SharedFactors& shared, int threads, const DrawKey& start, Draws random)
      : shared_(shared), threads_(threads), start_(start), classifier_(shared, random),
        loadings_(make_loadings(shared, random)), scores_(first_scores()) {}

  Scores first_scores() {
    Host host;
    loadings_->draw(scores_of_chain(shared_.start, static_cast<int>(start_.chain), start_), start_,
                    threads_, host);
    return Scores(loadings_->sums(), shared_.place);
  }

  DrawKey key() const {
    return {start_.seed, start_.chain, static_cast<std::uint64_t>(sweeps_)};
  }

  void make_sweep(Host& host) override {
    ++sweeps_;
    classifier_.draw(scores_, key());
    const Mat w = draw_scores(shared_, scores_, classifier_, key(), threads_, host);
    loadings_->draw(w, key(), threads_, host);
    translate(w);
    scores_ = Scores(loadings_->sums(), shared_.place);
  }

  // Variables know scores so well that means, which share the mean score with them, would move by
  // small steps: scores w_n + delta, means mu - A delta, and an intercept less beta'delta leave x
  // and y what they are, so that delta is normal given the priors. Under a cut the intercept's
  // prior says nothing of delta.
  void translate(const Mat& w) {
    const FactorModel& model = shared_.model;
    const Index k = model.factors, at = shared_.intercept;
    if (k == 0 || (at < 0 && model.feedback)) return;
    const Mat& moments = loadings_->moments();
    const Vec beta = classifier_.beta();
    Mat precision = moments.bottomRightCorner(k, k) / model.mean_variance;
    precision.diagonal().array() += static_cast<double>(model.n());
    Vec linear = moments.col(0).tail(k) / model.mean_variance - w.colwise().sum().transpose();
    if (model.feedback) {
      const double unit = model.covariates(0, at), prior = classifier_.prior_precision(at);
      precision += prior / (unit * unit) * beta * beta.transpose();
      linear += prior * classifier_.alpha()[at] / unit * beta;
    }
    const Factor factor(precision);
    if (!factor.positive()) refuse_numbers();
    Draws random(key(), Purpose::move, 0);
    Vec delta = solved_lower(factor.lower(), linear);
    for (Index j = 0; j < k; ++j) delta[j] += random.normal();
    solve_transposed(factor.lower(), delta);
    loadings_->translate(delta);
    classifier_.shift(-beta.dot(delta));
  }

  // In the order of factor_numbers().
  Vec numbers(double offset) const {
    std::vector<double> out;
    for (const NamedNumbers& part : {classifier_.drawn(), loadings_->drawn()})
      for (const auto& number : part) out.push_back(number.second);
    const Vec part = scores_.mean() * classifier_.beta();
    const double explained = (part.array() - part.mean()).square().mean();
    double leftover = 0;
    for (Index i = 0; i < part.size(); ++i) leftover += classifier_.leftover(scores_, i);
    leftover /= static_cast<double>(part.size());
    const double sum = explained + leftover;
    for (const double number : {classifier_.leftover(scores_), explained,
                                sum > 0 ? explained / sum : 1, offset})
      out.push_back(number);
    return Eigen::Map<const Vec>(out.data(), static_cast<Index>(out.size()));
  }

  void visit(Archive& archive) override {
    archive.count(sweeps_, kMostSweeps);
    classifier_.visit(archive);
    loadings_->visit(archive);
    if (archive.reads()) scores_ = Scores(loadings_->sums(), shared_.place);
  }

  const SharedFactors& shared_;
  int threads_;
  DrawKey start_;
  Index sweeps_ = 0;
  Classifier classifier_;
  std::unique_ptr<Loadings> loadings_;
  Scores scores_;
};

}  // namespace

std::unique_ptr<Chain> make_factors_chain(const SharedFactors& shared, int threads,
                                          std::uint64_t seed, int chain) {
  return std::make_unique<FactorsChain>(shared, threads, seed, chain);
}

std::vector<std::string> factor_numbers(const FactorModel& model) {
  std::vector<std::string> out;
  for (size_t k = 0; k < model.parts.size(); ++k) {
    const CoefficientPart& part = model.parts[k];
    Moments shape;
    shape.count = static_cast<double>(part.places.size());
    shape.square = Vec::Zero(static_cast<Index>(part.places.size()));
    Vec hyper(part.prior->hyper_size(shape.square.size()));
    part.prior->start(shape, hyper);
    for (const auto& number : part.prior->drawn(hyper))
      out.push_back("part_" + std::to_string(k + 1) + "." + number.first);
  }
  for (Index k = 0; k < model.likelihood->free_size(); ++k)
    out.push_back("theta_" + std::to_string(k + 1));
  if (!model.noise.each) out.push_back("psi");
  if (model.loadings.local && !(model.loadings.rate > 0)) out.push_back("rate");
  for (const char* name : {"leftover", "explained", "determinacy", "offset"}) out.push_back(name);
  return out;
}

}  // namespace bsvm
