#include "fitting.hpp"

#include <cstring>

#include "forward_source.hpp"
#include "gaussian/ascent.hpp"
#include "gaussian/dense_ascent.hpp"
#include "rows/make_source.hpp"

namespace bsvm_test {

Options exact_options() {
  Options out;
  out.tolerance = 1e-24;
  out.max_passes = 100000;
  return out;
}

std::unique_ptr<Engine> engine_vb(bool accelerate) {
  return Registry<Engine>::make("vb", Params("vb", {{"accelerate", accelerate ? 1.0 : 0.0}}));
}

Fit fit(const Problem& problem, RowSource& source, const Options& options, Host& host,
        bool accelerate) {
  check(problem);
  Fit out{engine_vb(accelerate)->run(problem, source, options, host), {}};
  if (out.result.state.begun())
    out.outside =
        Coefficients(problem, source.extra()).outside(out.result.state, out.result.groups);
  return out;
}

Fit fit(const Problem& problem, const Options& options, int threads, bool accelerate) {
  MemorySource source(problem, Use::augmented, threads);
  Host host;
  return fit(problem, source, options, host, accelerate);
}

Options close_options() {
  Options out;
  out.tolerance = 1e-16;
  out.max_passes = 100000;
  return out;
}

std::unique_ptr<Conditional> ascent(const Problem& problem, const Options& options, Host& host,
                                    bool matched, int threads) {
  check(problem);
  std::unique_ptr<RowSource> source = make_source(problem, Use::expected, threads);
  if (!matched) source.reset(new ExpectedOnly(std::move(source)));
  std::unique_ptr<Conditional> out;
  if (problem.effects() == 0)
    out.reset(new DenseAscent(problem, std::move(source), options, host));
  else
    out.reset(new Ascent(problem, std::move(source), options, host));
  return out;
}

Top climb(const Problem& problem, bool matched, const Options& options) {
  Host host;
  const auto conditional = ascent(problem, options, host, matched);
  Top out;
  out.node = conditional->climb();
  out.progress = conditional->progress();
  const Index extra = out.node.state.layout.p - problem.columns();
  out.outside = Coefficients(problem, extra).outside(out.node.state, out.node.groups);
  return out;
}

VecL full_mean(const OutsideMoments& outside) {
  VecL out(outside.mean.size() + outside.groups.mean.size());
  out << outside.mean.cast<Real>(),
      Eigen::Map<const Vec>(outside.groups.mean.data(), outside.groups.mean.size()).cast<Real>();
  return out;
}

// u_g = -B_g b + noise of precision A_gg.
MatL full_covariance(const OutsideMoments& outside) {
  const Index p = outside.mean.size(), q = outside.groups.mean.rows();
  const Index m = outside.groups.mean.cols(), size = p + q * m;
  MatL map = MatL::Identity(size, p), own = MatL::Zero(size, size);
  for (Index g = 0; g < m && q > 0; ++g) {
    const Eigen::Map<const Mat> regression(outside.groups.regression.data() + g * p * q, q, p);
    const Eigen::Map<const Mat> precision(outside.groups.precision.data() + g * q * q, q, q);
    map.middleRows(p + g * q, q) = -regression.cast<Real>();
    own.block(p + g * q, p + g * q, q, q) = inverse(precision.cast<Real>());
  }
  return product(product(map, outside.covariance.cast<Real>()), map.transpose()) + own;
}

Twin twin_at(const Data& data, const Fit& found) {
  Twin twin = usual_twin(data);
  twin.q.mean = full_mean(found.outside);
  twin.q.covariance = full_covariance(found.outside);
  twin.q.begun = true;
  const double* hyper = found.result.state.hyper().data();
  for (TwinPrior& prior : twin.priors) {
    if (prior.variance > 0) continue;
    prior.q_shape = *hyper++;
    prior.q_scale = *hyper++;
  }
  twin.set_prior();
  return twin;
}

namespace {

bool same_bits(const double* a, const double* b, Index size) {
  return size == 0 || std::memcmp(a, b, sizeof(double) * size) == 0;
}

}  // namespace

bool same_bits(const Vec& a, const Vec& b) {
  return a.size() == b.size() && same_bits(a.data(), b.data(), a.size());
}

bool same_bits(const Mat& a, const Mat& b) {
  return a.size() == b.size() && same_bits(a.data(), b.data(), a.size());
}

}  // namespace bsvm_test
