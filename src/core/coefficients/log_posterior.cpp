#include "log_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "model/current_likelihood.hpp"
#include "model/gather.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

namespace {

constexpr Index kBlock = 256;     // rows whose linear predictors are held for all points
constexpr Index kMostLanes = 64;  // the order of sums must not depend on the threads

std::unique_ptr<SparseRows> rows_of(const SparseColumns& sparse, Index n) {
  std::vector<int> order(sparse.columns);
  std::iota(order.begin(), order.end(), 0);
  return std::make_unique<SparseRows>(sparse, n, order, std::vector<int>());
}

}  // namespace

// Coefficients b (d, K) inside, and what rows need of theta: the likelihood of each point and, where
// the design varies, a State that has it.
struct LogPosterior::Points {
  Mat b;
  std::vector<CurrentLikelihood> likelihood;  // (K), or one for all
  std::vector<State> state;                   // (K), or none

  const Likelihood& likelihood_of(Index k) const { return *likelihood[likelihood.size() > 1 ? k : 0]; }
};

// Of a block of rows.
struct LogPosterior::Scratch {
  std::vector<int> rows;
  Mat c, z;    // (p, r), (q, r) inside
  Mat f;       // (r, K)
  Vec still;   // (r) zeros: a line that goes nowhere
};

LogPosterior::LogPosterior(const Problem& problem, int threads, Precision precision)
    : problem_(problem), threads_(threads), prior_(problem), varies_(varies(problem)) {
  if (problem.integrated >= 0)
    integrated_ = std::make_unique<IntegratedSource>(problem, threads, precision);
  else if (problem.sparse.columns > 0)
    sparse_ = rows_of(problem.sparse, problem.n);
}

LogPosterior::~LogPosterior() = default;

Vec LogPosterior::at(ConstMatRef points, Host& host) {
  const Index d = coefficients(), number = points.cols();
  if (points.rows() != d + free())
    throw InvalidInput("points", "A point must have a number for each coefficient and each free "
                                 "parameter of the priors.");
  Mat unscaled = points.topRows(d);
  unscaled.array().colwise() /= prior_.unit().array();
  const Points given = inside(std::move(unscaled), points);
  const Mat& b = given.b;
  Vec out = integrated_ ? Vec(number) : all_rows(given, host);
  RowSums sums(integrated_ ? d + integrated_->free() : 0);
  for (Index k = 0; k < number; ++k) {
    const Vec theta = points.col(k).tail(free());
    const double prior = prior_.log_density(b.col(k), theta);
    const bool possible = prior > -std::numeric_limits<double>::infinity();
    if (integrated_ && possible) out[k] = integrated_rows(b.col(k), theta, sums, host);
    out[k] = possible ? out[k] + prior : -std::numeric_limits<double>::infinity();
    if (problem_.tilt.size() > 0)
      out[k] += problem_.tilt.dot(points.col(k).head(problem_.tilt.size()));
    // A likelihood at a parameter beyond doubles.
    if (std::isnan(out[k])) out[k] = -std::numeric_limits<double>::infinity();
  }
  return out;
}

// For problems in which nothing is integrated out.
double LogPosterior::rows(ConstVecRef point, Host& host) {
  const Index d = coefficients();
  double out = all_rows(inside(point.head(d), point), host)[0];
  if (problem_.tilt.size() > 0)
    out += problem_.tilt.dot(prior_.unit().head(problem_.tilt.size()).cwiseProduct(
        point.head(problem_.tilt.size())));
  return out;
}

// `points`: for theta.
LogPosterior::Points LogPosterior::inside(Mat b, ConstMatRef points) const {
  Points out{std::move(b), {}, {}};
  const Index size = problem_.parameters();
  Layout layout;
  layout.parameters = size;
  for (Index k = 0; k < (size > 0 ? points.cols() : 1); ++k) {
    out.likelihood.emplace_back(*problem_.likelihood);
    if (size == 0) break;
    State state(layout);
    state.parameters() = points.col(k).segment(coefficients() + prior_.parameter_first(), size);
    out.likelihood.back().follow(state);
    if (varies_) out.state.push_back(std::move(state));
  }
  return out;
}

double LogPosterior::integrated_rows(ConstVecRef b, ConstVecRef theta, RowSums& sums,
                                     Host& host) {
  Vec point(b.size() + prior_.seen());
  point << b, prior_.seen(theta);
  integrated_->sums(point, Depth::value, sums, host);
  return sums.value();
}

Vec LogPosterior::all_rows(const Points& points, Host& host) const {
  const Index n = problem_.n, blocks = (n + kBlock - 1) / kBlock;
  const Index lanes = std::min(blocks, kMostLanes);
  Mat sums = Mat::Zero(points.b.cols(), lanes);
  std::vector<Scratch> scratch(std::max(1, threads_));
  run_lanes(lanes, threads_, host, [&](Index lane, int worker, const Checkpoint& checkpoint) {
    for (Index k = lane * blocks / lanes; k < (lane + 1) * blocks / lanes; ++k) {
      checkpoint();
      add_block(k * kBlock, std::min(kBlock, n - k * kBlock), points, scratch[worker], sums.col(lane));
    }
  });
  return sums.rowwise().sum();
}

// Adds the log-likelihood of rows first .. first + r - 1 at all points.
void LogPosterior::add_block(Index first, Index r, const Points& points, Scratch& scratch,
                             VecRef out) const {
  const Mat& b = points.b;
  scratch.rows.resize(r);
  std::iota(scratch.rows.begin(), scratch.rows.end(), static_cast<int>(first));
  scratch.c.resize(problem_.columns(), r);
  const Index at = problem_.columns();
  scratch.f.resize(r, b.cols());
  for (size_t k = 0; k < points.state.size(); ++k) {
    gather_design(problem_, scratch.rows.data(), r, points.state[k], scratch.c);
    scratch.f.col(static_cast<Index>(k)).noalias() =
        scratch.c.transpose() * b.col(static_cast<Index>(k)).head(at);
  }
  if (points.state.empty()) {
    gather_design(problem_, scratch.rows.data(), r, scratch.c);
    scratch.f.noalias() = scratch.c.transpose() * b.topRows(at);
  }
  if (problem_.offset)
    scratch.f.colwise() += Eigen::Map<const Vec>(problem_.offset + first, r);
  add_effects(first, r, b.bottomRows(b.rows() - at), scratch);
  scratch.still.setZero(r);
  const double* weight = problem_.weight ? problem_.weight + first : nullptr;
  for (Index k = 0; k < out.size(); ++k)
    out[k] += points.likelihood_of(k).along({problem_.y + first, scratch.f.col(k).data(), nullptr,
                                          scratch.still.data(), weight, r}, 0);
}

// u (effects, K), inside.
void LogPosterior::add_effects(Index first, Index r, ConstMatRef u, Scratch& scratch) const {
  if (problem_.multipliers) {
    const Index q = problem_.effects();
    scratch.z.resize(q, r);
    gather_multipliers(problem_, scratch.rows.data(), r, scratch.z);
    for (Index i = 0; i < r; ++i)
      scratch.f.row(i).noalias() +=
          scratch.z.col(i).transpose() * u.middleRows((problem_.group[first + i] - 1) * q, q);
  }
  for (Index i = 0; sparse_ && i < r; ++i)
    for (int t = sparse_->row_start[first + i]; t < sparse_->row_start[first + i + 1]; ++t)
      scratch.f.row(i) += sparse_->row_value[t] * u.row(sparse_->position[t]);
}

}  // namespace bsvm
