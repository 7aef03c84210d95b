#include "unknown_rows.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "../error.hpp"
#include "../random/draws.hpp"
#include "../special/functions.hpp"

namespace bsvm {

namespace {

constexpr int kMostSteps = 100;
constexpr double kPrecise = 1e-13;  // of log chi + 2 log w, at most

Eigen::LLT<Mat> factor_of(const Mat& a) {
  Eigen::LLT<Mat> out(a);
  if (out.info() != Eigen::Success)
    throw NumericalFailure(
        "The law of a row's missing predictors is not positive definite to working accuracy. "
        "Leave out variables that repeat others.");
  return out;
}

double logdet(const Eigen::LLT<Mat>& factor) {
  return 2 * factor.matrixLLT().diagonal().array().log().sum();
}

// A rule for averages over N(0, 1) (Gauss and Hermite).
struct Rule {
  int size;
  double node[4], weight[4];  // of one half; the first node is zero
};
constexpr Rule kFew = {2, {0, 1.7320508075688772}, {2.0 / 3, 1.0 / 6}};
constexpr Rule kMany = {4,
                        {0, 1.154405394739968, 2.366759410734541, 3.750439717725742},
                        {0.45714285714285713, 0.24012317860501271, 0.030757123967586497,
                         0.00054826885597221808}};
constexpr double kSmooth = 0.7;  // of the spread of m to that of f given m, where few will do

}  // namespace

UnknownRows::UnknownRows(const Problem& problem, const Partition& partition)
    : problem_(problem), unknowns_(problem.unknowns), partition_(partition),
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
  if (patterns_[pattern].rows > 1) return laws_[pattern];
  if (scratch.own.pattern != pattern) make_law(pattern, scratch.own);
  return scratch.own;
}

void UnknownRows::prepare(const State& state, Use use) {
  use_ = use;
  precision_ = state.law_precision();
  mean_ = state.law_mean();
  if (use != Use::drawn && state.begun()) {
    const auto root = state.inverse_factor().triangularView<Eigen::Lower>();
    covariance_ = root.transpose() * Mat(root);
    if (state.layout.scatter > 0) covariance_.diagonal() += state.scatter();
  }
  if (use == Use::drawn) return;
  laws_.resize(patterns_.size());
  for (size_t k = 0; k < patterns_.size(); ++k)
    if (patterns_[k].rows > 1) make_law(static_cast<Index>(k), laws_[k]);
}

void UnknownRows::expect(const BlockRange& range, RowBlock& block,
                         UnknownBlock& out) const {
  find(range, out);
  out.own.pattern = -1;
  const Index d = unknowns_.d, n = problem_.n;
  out.x.resize(d, out.count);
  out.residual.resize(d, out.count);
  out.value.resize(out.count);
  out.spread.resize(out.count);
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
Vec UnknownRows::slopes(const MissingPattern& pattern, const State& state) const {
  Vec out = Vec::Zero(static_cast<Index>(pattern.missing.size()));
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b];
    out[b] = factor_[j] * state.mean()[unknowns_.column[j]];
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

// With t = log w, chi(w) w^2 rises in t from below one to above.
void UnknownRows::average(const BlockRange& range, const State& state, RowBlock& block,
                          UnknownBlock& out) const {
  if (!state.begun()) return;
  const bool grouped = problem_.groups > 0;
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    if (pattern.dense.empty()) continue;
    const Index i = row.at - range.first_row, k = static_cast<Index>(pattern.missing.size());
    const ConditionalLaw& of = law(row.pattern, out);
    const double* design = block.c + i * block.p;
    const Vec sigma = slopes(pattern, state);
    const Mat own = slopes_covariance(pattern), square = own + sigma * sigma.transpose();
    const Vec cross =
        coupling(pattern, grouped ? block.centred.data() + i * block.p : design, design, state);
    const double y = block.y[i], m = block.m[i], v = block.v[i], omega = shared(row);
    const Vec second = cross + m * sigma;
    Mat covariance(k, k);
    Vec away(k);
    double logdet_q = 0, mean = m, variance = v;
    const auto chi = [&](double w) {
      const auto factor = factor_of(of.precision + omega * w * square);
      away = factor.solve(omega * (y * (1 + w) * sigma - w * second));
      covariance = factor.solve(Mat::Identity(k, k));
      logdet_q = logdet(factor);
      mean = m + sigma.dot(away);
      variance = v + 2 * away.dot(cross) + away.dot(own * away) +
                 square.cwiseProduct(covariance).sum();
      return (1 - y * mean) * (1 - y * mean) + variance;
    };
    const double nearby =
        (1 - y * m) * (1 - y * m) + v + square.cwiseProduct(of.covariance).sum();
    const auto excess = [&](double t) { return std::log(std::max(chi(std::exp(t)), 1e-300)) + 2 * t; };
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
    block.m[i] = mean;
    block.v[i] = variance;
    for (Index b = 0; b < k; ++b) out.x(pattern.missing[b], a) += away[b];
    const double kd = static_cast<double>(k);
    out.value[a] += 0.5 * (of.logdet - logdet_q + kd - away.dot(of.precision * away) -
                           of.precision.cwiseProduct(covariance).sum());
    out.covariance[a] = covariance;
    put(row, pattern, out, a, range, block);
  }
}

void UnknownRows::integrate(const BlockRange& range, const State& state, const RowBlock& block,
                            RowTerms& terms, UnknownBlock& out) const {
  const bool grouped = problem_.groups > 0;
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const Index i = row.at - range.first_row;
    out.spread[a] = terms.weight[i];
    if (!state.begun() || pattern.dense.empty()) continue;
    const ConditionalLaw& of = law(row.pattern, out);
    const Vec sigma = slopes(pattern, state);
    const Mat square = slopes_covariance(pattern) + sigma * sigma.transpose();
    const double t = of.covariance.cwiseProduct(square).sum();
    const double s = std::sqrt(std::max(block.v[i], 1e-24)), y = block.y[i];
    const Rule& rule = s < kSmooth * std::sqrt(t) ? kFew : kMany;
    terms.value[i] = terms.slope[i] = terms.weight[i] = terms.curvature[i] = out.spread[a] = 0;
    for (int node = 0; node < rule.size; ++node)
      for (const double side : {1.0, -1.0}) {
        if (node == 0 && side < 0) continue;
        const Tilted here = problem_.likelihood->averaged(
            y * (block.m[i] + side * s * rule.node[node]), t, shared(row));
        const double share = rule.weight[node];
        terms.value[i] += share * here.value;
        terms.slope[i] += share * y * here.slope;
        terms.weight[i] -= share * side * rule.node[node] / s * y * here.slope;
        terms.curvature[i] += share * here.curvature;
        out.spread[a] += share * (here.curvature - here.slope * here.slope);
      }
    // The rule's own derivative in v; where s is small that of the limit.
    if (s < 1e-6) terms.weight[i] = terms.curvature[i];
    terms.curvature[i] = terms.weight[i];
    // What the row itself says of x_M: derivatives of its value in the mean and the covariance C of
    // its law are C^{-1} E(x - mean) and C^{-1} (E (x - mean)(x - mean)' - C) C^{-1} / 2.
    const double* design = block.c + i * block.p;
    const Vec cross =
        coupling(pattern, grouped ? block.centred.data() + i * block.p : design, design, state);
    const Vec away = of.covariance * (terms.slope[i] * sigma - terms.weight[i] * cross);
    out.covariance[a] = of.covariance - out.spread[a] * of.covariance * square * of.covariance -
                        away * away.transpose();
    for (Index b = 0; b < away.size(); ++b) out.x(pattern.missing[b], a) += away[b];
  }
}

// ---- sums

void UnknownRows::add(const BlockRange& range, const State& state, const RowTerms& terms,
                      UnknownBlock& block, RowSums& out) const {
  const bool drawn = use_ == Use::drawn, averaged = use_ == Use::augmented;
  for (Index a = 0; a < block.count; ++a) {
    const Row& row = rows_[block.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const Index i = row.at - range.first_row, k = static_cast<Index>(pattern.missing.size());
    auto cross = out.law_cross();
    for (Index b = 0; b < unknowns_.k; ++b)
      cross.row(b) += unknowns_.given[row.row + b * problem_.n] * block.x.col(a).transpose();
    if (drawn) continue;
    out.value() += block.value[a];
    auto square = out.law_square();
    for (Index b = 0; b < k; ++b)
      for (Index c = 0; c < k; ++c)
        if (pattern.missing[c] >= pattern.missing[b])
          square(pattern.missing[c], pattern.missing[b]) += block.covariance[a](c, b);
    if (pattern.dense.empty()) continue;
    // For the coefficients x_M varies as it does given the other rows alone, or under q.
    const Mat& spread = averaged ? block.covariance[a] : law(row.pattern, block).covariance;
    const double weight = averaged ? terms.weight[i] : block.spread[a];
    const Vec pulled = spread * slopes(pattern, state);
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
  block.ones.setOnes(block.count);
  if (block.count > 0)
    block.squares.add(block.x.data(), unknowns_.d, block.count, block.ones.data(),
                      out.law_square().data(), unknowns_.d);
}

void UnknownRows::add_complete(const State& state, RowSums& out) const {
  out.law_square() += complete_square_;
  out.law_cross() += complete_cross_;
  if (use_ == Use::drawn) return;
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
    out.residual.col(a) = out.x.col(a) - mean_.transpose() * z;
  }
  out.product.noalias() = precision_ * out.residual;
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const Index i = row.at - range.first_row, k = static_cast<Index>(pattern.missing.size());
    const Vec sigma = slopes(pattern, state);
    Mat precision(k, k);
    Vec step(k);
    for (Index b = 0; b < k; ++b) {
      step[b] = terms.slope[i] * sigma[b] - out.product(pattern.missing[b], a);
      for (Index c = 0; c < k; ++c)
        precision(c, b) = precision_(pattern.missing[c], pattern.missing[b]) +
                          terms.weight[i] * sigma[b] * sigma[c];
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
