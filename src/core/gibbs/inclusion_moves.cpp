#include "inclusion_moves.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "model/gather.hpp"

namespace bsvm {

namespace {

constexpr Index kTries = 12;            // a sweep, of more columns than that
constexpr Index kMostWithTwins = 500;   // columns: they are compared with each other
constexpr Index kMostCompared = 5000;   // rows, evenly spread
constexpr double kFirst = 5;            // draws that the prior counts as
constexpr double kWider = 1.2;          // than what was seen

// Some rows of the design, every column.
Mat some_design(const Problem& problem) {
  std::vector<int> rows;
  for (Index i = 0; i < problem.n; i += problem.n / kMostCompared + 1)
    rows.push_back(static_cast<int>(i));
  return gather_columns(problem, rows);
}

}  // namespace

InclusionMoves::InclusionMoves(const Problem& problem, const Coefficients& side)
    : side_(side), p_(problem.columns()), q_(problem.effects()) {
  for (const PriorPart& part : side.parts())
    for (Index k = 0; part.selects() && k < static_cast<Index>(part.slot.columns.size()); ++k)
      indicators_.push_back({part.slot.columns[k], part.slot.columns[k], 0, &part, k});
  if (p_ <= kMostWithTwins && !indicators_.empty()) find_twins(problem);
  const Vec precision = side.precision(side.start(Vec())).tail(p_);
  learnt_ = Vec::Zero(indicators_.empty() ? 0 : 4 * static_cast<Index>(indicators_.size()) + 1);
  for (size_t k = 0; k < indicators_.size(); ++k)
    learnt_.segment<4>(4 * k) << 0, 1 / precision[indicators_[k].column], kFirst, 0.5;
}

// By cosine, which is what a slope is of columns of one length.
void InclusionMoves::find_twins(const Problem& problem) {
  Mat design = some_design(problem);
  const Vec length = design.colwise().norm().cwiseMax(1e-300);
  design *= length.cwiseInverse().asDiagonal();
  for (Indicator& own : indicators_) {
    Vec cosine = design.transpose() * design.col(own.column);
    cosine[own.column] = 0;
    cosine.cwiseAbs().maxCoeff(&own.twin);
    own.slope = cosine[own.twin] * length[own.column] / length[own.twin];
  }
}

void InclusionMoves::run(State& state, LineSource& source, bool tune, Host& host) {
  const Index m = static_cast<Index>(indicators_.size());
  if (m == 0) return;
  Draws random(state.key(), Purpose::dense, 2);
  const Vec precision = side_.precision(state).tail(p_), open_so_far = open();
  for (Index tries = 0; tries < std::min(m, kTries); ++tries) {
    if (host.interrupted()) throw Interrupted();
    const Index anywhere = static_cast<Index>(random.uniform() * static_cast<double>(m));
    const double at = (2 * random.uniform() - 1) * open_so_far[m - 1];
    const auto place = std::lower_bound(open_so_far.data(), open_so_far.data() + m - 1, at);
    toggle(at < 0 ? anywhere : place - open_so_far.data(), precision, state, source, random);
  }
  if (tune) learn(state);
}

// (m) the sums so far of the variances of g: where both have been seen.
Vec InclusionMoves::open() const {
  const Index m = static_cast<Index>(indicators_.size());
  Vec out(m);
  double sum = 0;
  for (Index k = 0; k < m; ++k) {
    const double in = learnt_[4 * k + 3];
    out[k] = sum += in * (1 - in);
  }
  return out;
}

// The line leads from where the State is to its other side.
void InclusionMoves::toggle(Index k, ConstVecRef precision, State& state, LineSource& source,
                     Draws& random) const {
  const Indicator& own = indicators_[k];
  const Index j = own.column, twin = own.twin;
  const Vec b = state.mean().tail(p_);
  double& g = side_.inclusion(state, *own.part).data()[own.place];
  const double side = g != 0 ? -1 : 1, spread = kWider * std::sqrt(learnt_[4 * k + 1]);
  const double drawn = learnt_[4 * k] + spread * random.normal(), in = g != 0 ? b[j] : drawn;
  Line line{Vec::Zero(p_), Vec::Zero(q_)};
  line.dense[j] = side * in;
  if (random.uniform() < 0.5 && twin != j && b[twin] != 0)
    line.dense[twin] = -own.slope * line.dense[j];
  const double e = (in - learnt_[4 * k]) / spread, after = b[twin] + line.dense[twin];
  double gain = own.part->slot.prior->log_odds(side_.hyper(state, *own.part)) +
                0.5 * (std::log(precision[j]) - precision[j] * in * in + e * e) + std::log(spread);
  gain *= side;
  if (twin != j) gain -= 0.5 * precision[twin] * (after * after - b[twin] * b[twin]);
  source.aim(line);
  if (!(std::log(random.uniform()) < gain + source.along(1) - source.along(0))) return;
  source.move(1);
  state.mean().tail(p_) += line.dense;
  state.mean().tail(p_)[j] = g != 0 ? 0 : in;
  g = 1 - g;
}

// How often each was in, and the mean and the variance of its coefficient when it was.
void InclusionMoves::learn(const State& state) {
  double& sweeps = learnt_[learnt_.size() - 1];
  sweeps += 1;
  for (size_t k = 0; k < indicators_.size(); ++k) {
    auto own = learnt_.segment<4>(4 * k);
    const double b = state.mean().tail(p_)[indicators_[k].column];
    own[3] += ((b != 0) - own[3]) / (sweeps + 1);
    if (b == 0) continue;
    own[2] += 1;
    const double off = b - own[0];
    own[0] += off / own[2];
    own[1] += (off * off - own[1]) / own[2];
  }
}

}  // namespace bsvm
