#include "unknown_rows.hpp"

#include <algorithm>
#include <cmath>

#include "../random/draws.hpp"
#include "../special/functions.hpp"
#include "factor.hpp"

namespace bsvm {

namespace {

constexpr int kMostSteps = 100;
constexpr double kPrecise = 1e-13;  // of log chi + 2 log w, at most
constexpr double kSettled = 1e-9;   // of an entry's change

// For averages over N(0, 1): the rule of Gauss and Hermite with three nodes; zero has the rest.
constexpr double kNode = 1.7320508075688772, kShare = 1.0 / 6;
constexpr double kStep = 1e-6;   // of t, where it hardly changes with b

// Averages over nodes of log E p, of its derivatives in m and t, and of these times z and z'.
struct RowAverage {
  double value = 0, slope = 0, slope_z = 0, curvature = 0, spread = 0, spread_z = 0,
         spread_other = 0;

  // by_mean, by_change: derivatives of the node's t in its mean and in z.
  void add(const Tilted& at, double z, double other, double share, double y, double by_mean,
           double by_change) {
    const double by_t = 0.5 * (at.slope * at.slope - at.curvature);
    value += share * at.value;
    slope += share * y * at.slope;
    slope_z += share * y * at.slope * z;
    curvature += share * at.curvature;
    spread += share * by_mean * by_t;
    spread_z += share * by_change * by_t * z;
    spread_other += share * by_change * by_t * other;
  }
};

}  // namespace

UnknownRows::UnknownRows(const Problem& problem, const Partition& partition)
    : problem_(problem), unknowns_(problem.unknowns), partition_(partition),
      mechanism_(problem.unknowns),
      weight_(problem.weight), shift_(unknowns_.d), factor_(unknowns_.d),
      auxiliary_(unknowns_.d, -1), incomplete_(problem.columns(), false),
      complete_square_(Mat::Zero(unknowns_.d, unknowns_.d)),
      complete_cross_(Mat::Zero(unknowns_.k, unknowns_.d)),
      complete_gram_(Mat::Zero(unknowns_.k, unknowns_.k)) {
  Vec unit(problem.columns());
  Index first = 0;
  for (const auto& part : problem.blocks) {
    unit.segment(first, part->columns()) = part->unit();
    first += part->columns();
  }
  Index auxiliary = 0;
  for (Index j = 0; j < unknowns_.d; ++j) {
    const Index column = unknowns_.column[j];
    if (column < 0) auxiliary_[j] = auxiliary++;
    shift_[j] = column < 0 ? 0 : unknowns_.center[j] * unit[column];
    factor_[j] = column < 0 ? 1 : unknowns_.factor[j] * unit[column];
  }
  find_rows();
}

void UnknownRows::find_rows() {
  const State nothing{Layout()};
  Mat design(problem_.columns(), partition_.largest_block);
  Vec x(unknowns_.d);
  for (const BlockRange& range : partition_.blocks) {
    Index first = 0;
    for (const auto& part : problem_.blocks) {
      part->fill(partition_.order.data() + range.first_row, range.rows, nothing,
                 design.block(first, 0, part->columns(), range.rows));
      first += part->columns();
    }
    for (Index i = 0; i < range.rows; ++i) {
      const Index at = range.first_row + i;
      variables({at, partition_.order[at], 0, 0}, design.col(i).data(), x);
      add_row(at, x);
    }
  }
  complete_square_ = complete_square_.selfadjointView<Eigen::Lower>();
  // Entries stand by row of the problem.
  std::vector<Index> by_row(rows_.size());
  for (size_t k = 0; k < by_row.size(); ++k) by_row[k] = static_cast<Index>(k);
  std::sort(by_row.begin(), by_row.end(),
            [&](Index a, Index b) { return rows_[a].row < rows_[b].row; });
  start_ = {0};
  for (const Index k : by_row) {
    rows_[k].entry = start_.back();
    start_.push_back(start_.back() +
                     static_cast<Index>(patterns_[rows_[k].pattern].missing.size()));
  }
  drawn_ = Vec::Zero(entries());
}

// Patterns are numbered as they come.
void UnknownRows::add_row(Index at, ConstVecRef x) {
  std::vector<Index> missing;
  for (Index j = 0; j < unknowns_.d; ++j)
    if (std::isnan(x[j])) missing.push_back(j);
  if (missing.empty()) return sum_complete(at, x);
  Index number = -1;
  // Rows with a pattern seen before are the rule.
  const auto found = numbers_.find(missing);
  if (found != numbers_.end()) {
    number = found->second;
  } else {
    number = static_cast<Index>(patterns_.size());
    numbers_.emplace(missing, number);
    MissingPattern pattern;
    pattern.missing = missing;
    for (size_t a = 0; a < missing.size(); ++a) {
      const Index column = unknowns_.column[missing[a]];
      if (column < 0) continue;
      pattern.dense.push_back(static_cast<Index>(a));
      incomplete_[column] = true;
    }
    patterns_.push_back(pattern);
  }
  ++patterns_[number].rows;
  rows_.push_back({at, partition_.order[at], number, 0});
}

void UnknownRows::sum_complete(Index at, ConstVecRef x) {
  const Index row = partition_.order[at], n = problem_.n;
  Vec z(unknowns_.k);
  for (Index a = 0; a < unknowns_.k; ++a) z[a] = unknowns_.given[row + a * n];
  complete_square_.selfadjointView<Eigen::Lower>().rankUpdate(x);
  complete_cross_.noalias() += z * x.transpose();
  complete_gram_.noalias() += z * z.transpose();
}

void UnknownRows::variables(const Row& row, const double* design, VecRef out) const {
  for (Index j = 0; j < unknowns_.d; ++j)
    out[j] = auxiliary_[j] >= 0 ? unknowns_.auxiliary[row.row + auxiliary_[j] * problem_.n]
                                : (design[unknowns_.column[j]] - shift_[j]) / factor_[j];
}

void UnknownRows::find(const BlockRange& range, UnknownBlock& out) const {
  const auto before = [](const Row& row, Index at) { return row.at < at; };
  const auto first = std::lower_bound(rows_.begin(), rows_.end(), range.first_row, before),
             last = std::lower_bound(first, rows_.end(), range.first_row + range.rows, before);
  out.first = first - rows_.begin();
  out.count = last - first;
}

// ---- the imputation model

void UnknownRows::make_law(Index pattern, ConditionalLaw& out) const {
  const std::vector<Index>& missing = patterns_[pattern].missing;
  const Index k = static_cast<Index>(missing.size());
  out.pattern = pattern;
  out.precision.resize(k, k);
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b) out.precision(b, a) = precision_(missing[b], missing[a]);
  const auto factor = factor_of(out.precision);
  out.factor = factor.matrixL();
  out.logdet = logdet(factor);
  out.covariance = factor.solve(Mat::Identity(k, k));
}

const ConditionalLaw& UnknownRows::law(Index pattern, UnknownBlock& scratch) const {
  if (patterns_[pattern].rows > 1 || use_ == Use::marginal) return laws_[pattern];
  if (scratch.own.pattern != pattern) make_law(pattern, scratch.own);
  return scratch.own;
}

void UnknownRows::prepare(const State& state, Use use) {
  use_ = use;
  precision_ = state.law_precision();
  mean_ = state.law_mean();
  if (mechanism_.any()) mechanism_.prepare(state);
  if (!draws() && state.begun()) {
    const auto root = state.inverse_factor().triangularView<Eigen::Lower>();
    covariance_ = root.transpose() * Mat(root);
    if (state.layout.scatter > 0) covariance_.diagonal() += state.scatter();
  }
  if (use == Use::drawn) return;
  laws_.resize(patterns_.size());
  for (size_t k = 0; k < patterns_.size(); ++k)
    if (patterns_[k].rows > 1 || use == Use::marginal) make_law(static_cast<Index>(k), laws_[k]);
}

void UnknownRows::expect(const BlockRange& range, RowBlock& block,
                         UnknownBlock& out) const {
  find(range, out);
  out.own.pattern = -1;
  const Index d = unknowns_.d, n = problem_.n;
  out.x.resize(d, out.count);
  out.residual.resize(d, out.count);
  out.value.resize(out.count);
  for (Arr* a : {&out.spread, &out.both, &out.square}) a->resize(out.count);
  if (static_cast<Index>(out.covariance.size()) < out.count) out.covariance.resize(out.count);
  Vec z(unknowns_.k);
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    for (Index j = 0; j < z.size(); ++j) z[j] = unknowns_.given[row.row + j * n];
    variables(row, block.c + (row.at - range.first_row) * block.p, out.x.col(a));
    const Vec mean = mean_.transpose() * z;
    out.residual.col(a) = out.x.col(a) - mean;
    for (const Index j : patterns_[row.pattern].missing) {
      out.residual(j, a) = 0;
      out.x(j, a) = mean[j];
    }
  }
  out.product.noalias() = precision_ * out.residual;
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const ConditionalLaw& of = law(row.pattern, out);
    const Index k = static_cast<Index>(pattern.missing.size());
    Vec pull(k);
    for (Index b = 0; b < k; ++b) pull[b] = out.product(pattern.missing[b], a);
    const Vec away = -of.covariance * pull;
    double square = out.residual.col(a).dot(out.product.col(a)) + pull.dot(away);
    for (Index b = 0; b < k; ++b) out.x(pattern.missing[b], a) += away[b];
    out.value[a] = 0.5 * (static_cast<double>(k) * kLog2Pi - square - of.logdet);
    out.covariance[a] = of.covariance;
    put(row, pattern, out, a, range, block);
  }
}

// The variables' means into the design.
void UnknownRows::put(const Row& row, const MissingPattern& pattern, const UnknownBlock& from,
                      Index at, const BlockRange& range, RowBlock& block) const {
  double* design = block.c + (row.at - range.first_row) * block.p;
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b];
    design[unknowns_.column[j]] = shift_[j] + factor_[j] * from.x(j, at);
  }
}

// ---- given the coefficients

// By what f changes with each missing variable: zero for auxiliary ones.
Vec UnknownRows::slopes(const MissingPattern& pattern, ConstVecRef mean) const {
  Vec out = Vec::Zero(static_cast<Index>(pattern.missing.size()));
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b];
    out[b] = factor_[j] * mean[unknowns_.column[j]];
  }
  return out;
}

Mat UnknownRows::slopes_covariance(const MissingPattern& pattern) const {
  const Index k = static_cast<Index>(pattern.missing.size());
  Mat out = Mat::Zero(k, k);
  for (const Index a : pattern.dense)
    for (const Index b : pattern.dense) {
      const Index i = pattern.missing[a], j = pattern.missing[b];
      out(a, b) = factor_[i] * factor_[j] * covariance_(unknowns_.column[i], unknowns_.column[j]);
    }
  return out;
}

// Their covariance with f at the means that are in the design.
Vec UnknownRows::coupling(const MissingPattern& pattern, const double* centred,
                          const double* design, const State& state) const {
  const Index p = covariance_.rows();
  const Eigen::Map<const Vec> c(centred, p);
  Vec out = Vec::Zero(static_cast<Index>(pattern.missing.size()));
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b], column = unknowns_.column[j];
    double sum = covariance_.col(column).dot(c);
    // What scatters is independent of groups, and not centred.
    if (state.layout.scatter > 0)
      sum += state.scatter()[column] * (design[column] - centred[column]);
    out[b] = factor_[j] * sum;
  }
  return out;
}

// Of one row, its missing entries at x_M = E x_M + e: with base + omega w E s s' the precision of
// q(e) the linear term is pull + omega (y (1 + w) E s - w E s f), f where e is zero.
struct UnknownRows::RowProblem {
  Mat base, own, square;      // (k, k); Cov s, E s s'
  Vec pull, sigma, second;    // (k) E s, E s f
  Vec cross;                  // (k) Cov(s, f)
  double y, m, v, omega;
};

struct UnknownRows::RowSolution {
  Vec away;
  Mat covariance;
  double logdet = 0, mean = 0, variance = 0;  // of the precision; of f
};

double UnknownRows::look(const RowProblem& of, double w, RowSolution& out) {
  const auto factor = factor_of(of.base + of.omega * w * of.square);
  out.away = factor.solve(of.pull + of.omega * (of.y * (1 + w) * of.sigma - w * of.second));
  out.covariance = factor.solve(Mat::Identity(of.base.rows(), of.base.rows()));
  out.logdet = logdet(factor);
  out.mean = of.m + of.sigma.dot(out.away);
  out.variance = of.v + 2 * out.away.dot(of.cross) + out.away.dot(of.own * out.away) +
                 of.square.cwiseProduct(out.covariance).sum();
  return (1 - of.y * out.mean) * (1 - of.y * out.mean) + out.variance;
}

// With t = log w, chi(w) w^2 rises in t from below one to above.
void UnknownRows::solve(const RowProblem& of, RowSolution& out) {
  const auto excess = [&](double t) {
    return std::log(std::max(look(of, std::exp(t), out), 1e-300)) + 2 * t;
  };
  const double nearby = (1 - of.y * of.m) * (1 - of.y * of.m) + of.v;
  double t = -0.5 * std::log(std::max(nearby, 1e-200)), low = -700, high = 700;
  double before = t, excess_before = 0, slope = 2;
  for (int step = 0; step < kMostSteps; ++step) {
    const double now = excess(t);
    if (std::abs(now) <= kPrecise) break;
    (now < 0 ? low : high) = t;
    if (step > 0 && t != before) slope = (now - excess_before) / (t - before);
    if (!(slope > 0.01)) slope = 2;
    before = t;
    excess_before = now;
    double next = t - now / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - t) <= 1e-15 * (1 + std::abs(t))) break;
    t = next;
  }
}

void UnknownRows::average(const BlockRange& range, const State& state, RowBlock& block,
                          UnknownBlock& out) const {
  if (mechanism_.any()) out.latent.resize(unknowns_.indicators.size(), range.rows);
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const bool seen = state.begun() && !pattern.dense.empty();
    if (!seen && !mechanism_.any()) continue;
    const Index i = row.at - range.first_row, k = static_cast<Index>(pattern.missing.size());
    const ConditionalLaw& of = law(row.pattern, out);
    const double* design = block.c + i * block.p;
    RowProblem problem;
    problem.base = of.precision;
    problem.pull = problem.sigma = problem.cross = problem.second = Vec::Zero(k);
    problem.own = problem.square = Mat::Zero(k, k);
    problem.y = block.y[i];
    problem.m = block.m[i];
    problem.v = block.v[i];
    problem.omega = seen ? shared(row) : 0;
    if (seen) {
      problem.sigma = slopes(pattern, state.mean());
      problem.own = slopes_covariance(pattern);
      problem.square = problem.own + problem.sigma * problem.sigma.transpose();
      const bool grouped = problem_.groups > 0;
      problem.cross = coupling(pattern, grouped ? block.centred.data() + i * block.p : design,
                               design, state);
      problem.second = problem.cross + problem.m * problem.sigma;
    }
    RowSolution found;
    double value = 0;
    if (mechanism_.any()) value = settle(row, i, problem, found, out.x.col(a), out);
    else solve(problem, found);
    if (seen) {
      block.m[i] = found.mean;
      block.v[i] = found.variance;
    }
    for (Index b = 0; b < k; ++b) out.x(pattern.missing[b], a) += found.away[b];
    out.value[a] += value + 0.5 * (of.logdet - found.logdet + static_cast<double>(k) -
                                   found.away.dot(of.precision * found.away) -
                                   of.precision.cwiseProduct(found.covariance).sum());
    out.covariance[a] = found.covariance;
    put(row, pattern, out, a, range, block);
  }
}

// The row's latent indicators and its entries, in turn. Returns the mechanism's share of the bound.
double UnknownRows::settle(const Row& row, Index at, RowProblem& problem, RowSolution& found,
                           ConstVecRef x, UnknownBlock& out) const {
  const std::vector<Index>& missing = patterns_[row.pattern].missing;
  const double* given = unknowns_.given + row.row;
  const Mat own = mechanism_.precision(missing);
  problem.base += own;
  const Vec start = mechanism_.regressors(given, problem_.n, x);
  Vec here = x, latent(out.latent.rows());
  double value = mechanism_.expect(start, missing, latent);
  for (int step = 0; step < kMostSteps; ++step) {
    problem.pull = mechanism_.slope(missing, start, latent);
    const Vec before = found.away;
    solve(problem, found);
    for (size_t b = 0; b < missing.size(); ++b)
      here[missing[b]] = x[missing[b]] + found.away[static_cast<Index>(b)];
    value = mechanism_.expect(mechanism_.regressors(given, problem_.n, here), missing, latent);
    if (step > 0 && (found.away - before).cwiseAbs().maxCoeff() <= kSettled) break;
  }
  out.latent.col(at) = latent;
  return value - 0.5 * own.cwiseProduct(found.covariance).sum();
}

// Over b, f's mean m and variance t are about normal: m is linear, and t = s'C s changes with
// g'(s - E s), g = 2 C E s. With m = E m + a z, t = E t + b z + c z' the average of log E p is one
// over z, with z' = 0, and the same the other way round; derivatives in the covariances follow the
// nodes.
// Beside groups t stays at its mean.
void UnknownRows::integrate(const BlockRange& range, const State& state, const RowBlock& block,
                            RowTerms& terms, UnknownBlock& out) const {
  const bool grouped = problem_.groups > 0;
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const Index i = row.at - range.first_row;
    out.spread[a] = terms.weight[i];
    out.both[a] = out.square[a] = 0;
    if (!state.begun() || pattern.dense.empty()) continue;
    const ConditionalLaw& of = law(row.pattern, out);
    const Vec sigma = slopes(pattern, state.mean()), pulled = of.covariance * sigma;
    const Mat own = slopes_covariance(pattern);
    const double y = block.y[i], t = sigma.dot(pulled) + of.covariance.cwiseProduct(own).sum();
    const double alone = std::sqrt(std::max(block.v[i], 1e-24));
    const double* design = block.c + i * block.p;
    const Vec cross =
        coupling(pattern, grouped ? block.centred.data() + i * block.p : design, design, state);
    double with = 0, apart = 0;
    if (!grouped) {
      with = 2 * pulled.dot(cross) / alone;
      const double left = 4 * pulled.dot(own * pulled) - with * with;
      apart = std::sqrt(std::max(left, kStep * kStep * t * t));
    }
    RowAverage mean;
    const auto look = [&](double z, double other, double share) {
      // 1 + x, bent where it would come near zero.
      const double x = (with * z + apart * other) / t, bent = x < -0.5 ? 0.25 / (x * x) : 1,
                   at = x < -0.5 ? -0.25 / x : 1 + x;
      const Tilted here =
          problem_.likelihood->averaged(y * (block.m[i] + alone * z), t * at, shared(row));
      mean.add(here, z, other, share, y, at - x * bent, bent);
    };
    look(0, 0, 1 - (apart > 0 ? 4 : 2) * kShare);
    for (const double side : {1.0, -1.0}) {
      look(side * kNode, 0, kShare);
      if (apart > 0) look(0, side * kNode, kShare);
    }
    const double by_square = apart > 0 ? mean.spread_other / (2 * apart) : 0;
    const double by_both = apart > 0 ? (mean.spread_z - 2 * by_square * with) / alone : 0;
    terms.value[i] = mean.value;
    terms.slope[i] = mean.slope;
    // Where m is known almost exactly, the limit.
    terms.weight[i] = alone < 1e-6 ? mean.curvature
                                   : -mean.slope_z / alone + with * by_both / alone;
    terms.curvature[i] = terms.weight[i];
    out.spread[a] = -2 * mean.spread;
    out.both[a] = by_both;
    out.square[a] = by_square;
    // What the row itself says of x_M: derivatives of its value in the mean and the covariance C of
    // its law are C^{-1} E(x - mean) and C^{-1} (E (x - mean)(x - mean)' - C) C^{-1} / 2.
    const Vec g = 2 * pulled, turned = 2 * by_both * cross + 4 * by_square * (own * g);
    const Vec away = of.covariance * (mean.slope * sigma - terms.weight[i] * cross +
                                      by_both * (own * g));
    const Mat by_covariance = 2 * mean.spread * (own + sigma * sigma.transpose()) +
                              turned * sigma.transpose() + sigma * turned.transpose();
    out.covariance[a] = of.covariance + of.covariance * by_covariance * of.covariance -
                        away * away.transpose();
    for (Index b = 0; b < away.size(); ++b) out.x(pattern.missing[b], a) += away[b];
  }
}

// ---- sums

void UnknownRows::add(const BlockRange& range, const State& state, const RowBlock& rows,
                      const RowTerms& terms, UnknownBlock& block, RowSums& out) const {
  const bool averaged = use_ == Use::augmented;
  for (Index a = 0; a < block.count; ++a) {
    const Row& row = rows_[block.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const Index i = row.at - range.first_row, k = static_cast<Index>(pattern.missing.size());
    auto cross = out.law_cross();
    for (Index b = 0; b < unknowns_.k; ++b)
      cross.row(b) += unknowns_.given[row.row + b * problem_.n] * block.x.col(a).transpose();
    if (draws()) continue;
    out.value() += block.value[a];
    auto square = out.law_square();
    for (Index b = 0; b < k; ++b)
      for (Index c = 0; c < k; ++c)
        if (pattern.missing[c] >= pattern.missing[b])
          square(pattern.missing[c], pattern.missing[b]) += block.covariance[a](c, b);
    if (pattern.dense.empty()) continue;
    if (!averaged && state.begun())
      add_moving(row, state, rows.c + i * rows.p, law(row.pattern, block), block.both[a],
                 block.square[a], out);
    // For the coefficients x_M varies as it does given the other rows alone, or under q.
    const Mat& spread = averaged ? block.covariance[a] : law(row.pattern, block).covariance;
    const double weight = averaged ? terms.weight[i] : block.spread[a];
    const Vec pulled = spread * slopes(pattern, state.mean());
    for (const Index b : pattern.dense) {
      const Index j = pattern.missing[b], column = unknowns_.column[j];
      out.linear()[column] -= weight * factor_[j] * pulled[b];
      for (const Index c : pattern.dense) {
        const Index l = pattern.missing[c], other = unknowns_.column[l];
        if (other < column) continue;
        const double share = weight * factor_[j] * factor_[l] * spread(c, b);
        out.weight()(other, column) += share;
        if (averaged) out.curvature()(other, column) += share;
        if (out.raw > 0 && other == column) out.raw_diagonal()[column] += share;
      }
    }
  }
  if (mechanism_.any()) add_indicators(range, rows, block, out);
  block.ones.setOnes(block.count);
  if (block.count > 0)
    block.squares.add(block.x.data(), unknowns_.d, block.count, block.ones.data(),
                      out.law_square().data(), unknowns_.d);
}

// Of all rows of the block, those without missing entries too.
void UnknownRows::add_indicators(const BlockRange& range, const RowBlock& rows, UnknownBlock& block,
                                 RowSums& out) const {
  const std::vector<Index> none;
  Vec x(unknowns_.d);
  for (Index i = 0, a = 0; i < range.rows; ++i) {
    const Index at = range.first_row + i, row = partition_.order[at];
    const bool own = a < block.count && rows_[block.first + a].at == at;
    if (own) x = block.x.col(a);
    else variables({at, row, 0, 0}, rows.c + i * rows.p, x);
    const Vec t = mechanism_.regressors(unknowns_.given + row, problem_.n, x);
    if (!own && !draws()) out.value() += mechanism_.expect(t, none, block.latent.col(i));
    out.law_latent().noalias() += t * block.latent.col(i).transpose();
    a += own;
  }
}

// Derivatives in the variance of t (`square`) and in its covariance with m (`both`), as of b: with
// g = 2 C s on the coefficients of x_M and c the row of the design these are g'S g and c'S g.
void UnknownRows::add_moving(const Row& row, const State& state, const double* design,
                             const ConditionalLaw& of, double both, double square,
                             RowSums& out) const {
  if (both == 0 && square == 0) return;
  const MissingPattern& pattern = patterns_[row.pattern];
  const Vec g = 2 * of.covariance * slopes(pattern, state.mean());
  const Vec moved = 2 * of.covariance * (both * coupling(pattern, design, design, state) +
                                         2 * square * slopes_covariance(pattern) * g);
  auto weight = out.weight();
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b], column = unknowns_.column[j];
    const double own = factor_[j] * g[b];
    out.linear()[column] += factor_[j] * moved[b];
    for (Index l = 0; l < out.p; ++l)
      weight(std::max(l, column), std::min(l, column)) -=
          both * design[l] * own * (l == column ? 2 : 1);
    for (const Index c : pattern.dense) {
      const Index k = pattern.missing[c], other = unknowns_.column[k];
      if (other >= column) weight(other, column) -= 2 * square * own * factor_[k] * g[c];
    }
  }
}

void UnknownRows::add_complete(const State& state, RowSums& out) const {
  out.law_square() += complete_square_;
  out.law_cross() += complete_cross_;
  if (draws()) return;
  const Mat mean = state.law_mean(), cross = mean.transpose() * complete_cross_;
  const Mat about = complete_square_ - cross - cross.transpose() +
                    mean.transpose() * complete_gram_ * mean;
  out.value() -= 0.5 * precision_.cwiseProduct(about).sum();
}

// ---- sampling

void UnknownRows::fill(const BlockRange& range, RowBlock& block) const {
  UnknownBlock found;
  find(range, found);
  for (Index a = found.first; a < found.first + found.count; ++a) {
    const Row& row = rows_[a];
    const MissingPattern& pattern = patterns_[row.pattern];
    double* design = block.c + (row.at - range.first_row) * block.p;
    for (const Index b : pattern.dense) {
      const Index j = pattern.missing[b];
      design[unknowns_.column[j]] = shift_[j] + factor_[j] * drawn_[row.entry + b];
    }
  }
}

// One Newton step from where the entries are is their conditional mean.
void UnknownRows::draw(const BlockRange& range, const State& state, RowBlock& block,
                       RowTerms& terms, UnknownBlock& out) {
  find(range, out);
  const Index d = unknowns_.d, n = problem_.n;
  out.x.resize(d, out.count);
  out.residual.resize(d, out.count);
  Vec z(unknowns_.k);
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    for (Index j = 0; j < z.size(); ++j) z[j] = unknowns_.given[row.row + j * n];
    variables(row, block.c + (row.at - range.first_row) * block.p, out.x.col(a));
    const std::vector<Index>& missing = patterns_[row.pattern].missing;
    for (size_t b = 0; b < missing.size(); ++b)
      out.x(missing[b], a) = drawn_[row.entry + static_cast<Index>(b)];
    out.residual.col(a) = out.x.col(a);
    out.residual.col(a).noalias() -= mean_.transpose() * z;
  }
  out.product.noalias() = precision_ * out.residual;
  if (mechanism_.any()) draw_indicators(range, state, block, out);
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const Index i = row.at - range.first_row, k = static_cast<Index>(pattern.missing.size());
    if (k == 1 && !mechanism_.any()) {
      draw_one(row, i, a, state, block, terms, out);
      continue;
    }
    const Vec sigma = slopes(pattern, state.mean());
    Mat precision(k, k);
    Vec step(k);
    for (Index b = 0; b < k; ++b) {
      step[b] = terms.slope[i] * sigma[b] - out.product(pattern.missing[b], a);
      for (Index c = 0; c < k; ++c)
        precision(c, b) = precision_(pattern.missing[c], pattern.missing[b]) +
                          terms.weight[i] * sigma[b] * sigma[c];
    }
    if (mechanism_.any()) {
      const Vec t = mechanism_.regressors(unknowns_.given + row.row, n, out.x.col(a));
      step += mechanism_.slope(pattern.missing, t, out.latent.col(i));
      precision += mechanism_.precision(pattern.missing);
    }
    const auto factor = factor_of(precision);
    factor.matrixL().solveInPlace(step);
    Draws random(state.key(), Purpose::unknown, static_cast<std::uint64_t>(row.row) + 1);
    for (Index b = 0; b < k; ++b) step[b] += random.normal();
    factor.matrixU().solveInPlace(step);
    const double change = sigma.dot(step);
    block.m[i] += change;
    terms.slope[i] -= terms.weight[i] * change;
    for (Index b = 0; b < k; ++b) {
      drawn_[row.entry + b] += step[b];
      out.x(pattern.missing[b], a) = drawn_[row.entry + b];
    }
    put(row, pattern, out, a, range, block);
  }
}

void UnknownRows::find_spreads(ConstVecRef mean) {
  spreads_.resize(static_cast<Index>(patterns_.size()));
  for (size_t k = 0; k < patterns_.size(); ++k) {
    const Vec sigma = slopes(patterns_[k], mean);
    spreads_[static_cast<Index>(k)] = sigma.dot(laws_[k].covariance * sigma);
  }
}

// A draw whatever f is, moved to where f is as given.
void UnknownRows::draw_given(Index number, const State& state, double away, Draws& random,
                             UnknownBlock& block) {
  const Row& row = rows_[number];
  const MissingPattern& pattern = patterns_[row.pattern];
  const ConditionalLaw& of = laws_[row.pattern];
  Vec x(static_cast<Index>(pattern.missing.size()));
  for (Index b = 0; b < x.size(); ++b) x[b] = random.normal();
  of.factor.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  const Vec sigma = slopes(pattern, state.mean()), pulled = of.covariance * sigma;
  const double v = sigma.dot(pulled);
  if (v > 0) x += pulled * ((away - sigma.dot(x)) / v);
  for (Index b = 0; b < x.size(); ++b) {
    const Index j = pattern.missing[b];
    drawn_[row.entry + b] = block.x(j, number - block.first) += x[b];
  }
}

// The same for a row with one missing entry, without matrices.
void UnknownRows::draw_one(const Row& row, Index at, Index number, const State& state,
                           RowBlock& block, RowTerms& terms, UnknownBlock& out) {
  const Index j = patterns_[row.pattern].missing[0], column = unknowns_.column[j];
  const double sigma = column < 0 ? 0 : factor_[j] * state.mean()[column];
  const double precision = precision_(j, j) + terms.weight[at] * sigma * sigma;
  Draws random(state.key(), Purpose::unknown, static_cast<std::uint64_t>(row.row) + 1);
  const double step = (terms.slope[at] * sigma - out.product(j, number)) / precision +
                      random.normal() / std::sqrt(precision);
  block.m[at] += sigma * step;
  terms.slope[at] -= terms.weight[at] * sigma * step;
  out.x(j, number) = drawn_[row.entry] += step;
  if (column >= 0) block.c[at * block.p + column] = shift_[j] + factor_[j] * drawn_[row.entry];
}

// Of all rows of the block, given their entries.
void UnknownRows::draw_indicators(const BlockRange& range, const State& state, const RowBlock& rows,
                                  UnknownBlock& out) const {
  const std::vector<Index> none;
  out.latent.resize(unknowns_.indicators.size(), range.rows);
  Vec x(unknowns_.d);
  for (Index i = 0, a = 0; i < range.rows; ++i) {
    const Index at = range.first_row + i, row = partition_.order[at];
    const bool own = a < out.count && rows_[out.first + a].at == at;
    if (own) x = out.x.col(a);
    else variables({at, row, 0, 0}, rows.c + i * rows.p, x);
    const auto& missing = own ? patterns_[rows_[out.first + a].pattern].missing : none;
    Draws random(state.key(), Purpose::indicator, static_cast<std::uint64_t>(row));
    mechanism_.draw(mechanism_.regressors(unknowns_.given + row, problem_.n, x), missing, random,
                    out.latent.col(i));
    a += own;
  }
}

// ---- what is known of the entries

Imputations UnknownRows::places() const {
  Imputations out;
  out.row.resize(entries());
  out.variable.resize(entries());
  out.mean = drawn_;
  out.sd = Vec::Zero(entries());
  for (const Row& row : rows_) {
    const std::vector<Index>& missing = patterns_[row.pattern].missing;
    for (size_t b = 0; b < missing.size(); ++b) {
      out.row[row.entry + static_cast<Index>(b)] = row.row;
      out.variable[row.entry + static_cast<Index>(b)] = missing[b];
    }
  }
  return out;
}

void UnknownRows::read(const UnknownBlock& block, Imputations& out) const {
  for (Index a = 0; a < block.count; ++a) {
    const Row& row = rows_[block.first + a];
    const std::vector<Index>& missing = patterns_[row.pattern].missing;
    for (size_t b = 0; b < missing.size(); ++b) {
      const Index at = row.entry + static_cast<Index>(b), own = static_cast<Index>(b);
      out.mean[at] = block.x(missing[b], a);
      out.sd[at] = std::sqrt(block.covariance[a](own, own));
    }
  }
}

}  // namespace bsvm
