#include "integrated_source.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "integrated_worker.hpp"

namespace bsvm {

namespace {

constexpr double kNoise = 1e-11, kPairNoise = 1e-5;  // of a group's quick integral
constexpr double kPairTolerance = 1e-10;             // of an exact one

}  // namespace

IntegratedSource::IntegratedSource(const Problem& problem, int threads, Precision precision)
    : likelihood_(*problem.likelihood), parameters_(problem.likelihood->free_size()),
      rows_(problem), threads_(threads), precision_(precision) {
  const bool quick = precision == Precision::quick, pairs = rows_.effects() == 2;
  find_parts(problem);
  const Index lanes = static_cast<Index>(rows_.lanes().size());
  workers_.resize(std::max<Index>(1, std::min<Index>(threads, lanes)));
  if (parameters_ > 0) follow(Vec::Zero(coefficients() + free_));
  else for (Worker& worker : workers_) make_integrals(worker);
  if (workers_[0].grid) frames_.resize(rows_.groups());
  const double noise = pairs ? kPairNoise : workers_[0].single->line() ? kNoise : 0;
  if (quick) noise_ = noise * std::sqrt(static_cast<double>(rows_.groups()));
}

void IntegratedSource::make_integrals(Worker& worker) const {
  const bool quick = precision_ == Precision::quick, pairs = rows_.effects() == 2;
  worker.without.reset();
  worker.grid.reset();
  worker.single = likelihood_->integral();
  if (quick) worker.single->hurry();
  worker.pair = std::make_unique<PairIntegral>(likelihood_->integral(),
                                               quick ? PairGrid::kTolerance : kPairTolerance);
  if (quick && pairs && worker.single->line())
    worker.grid = std::make_unique<PairGrid>(*worker.single->line(), likelihood_->integral());
}

IntegratedSource::~IntegratedSource() = default;

void IntegratedSource::find_parts(const Problem& problem) {
  for (const PriorSlot& slot : problem.group_priors) {
    const Index first = slot.columns[0] - rows_.first_effect();
    if (first < 0 || first >= rows_.effects()) continue;
    const Index size = slot.prior->free_size(static_cast<Index>(slot.columns.size()));
    parts_.push_back({slot.prior.get(), first, free_, size});
    free_ += size;
  }
  free_ += parameters_;
}

// ---- parameters of the likelihood

// Brings likelihood and integrals in line with a point.
void IntegratedSource::follow(ConstVecRef point) {
  if (parameters_ == 0 || (followed_.size() > 0 && followed_ == point.tail(parameters_))) return;
  followed_ = point.tail(parameters_);
  likelihood_.follow(followed_);
  for (Worker& worker : workers_) make_integrals(worker);
}

void IntegratedSource::find_moved(Depth depth) {
  moved_.clear();
  const auto add = [&](Index j, Index k, double step) {
    Vec parameters = followed_;
    parameters[k] += step;
    if (j != k) parameters[j] += step;
    moved_.push_back({j, k, step, likelihood_});
    moved_.back().likelihood.follow(parameters);
  };
  for (Index k = 0; k < parameters_ && depth != Depth::value; ++k) {
    for (double side : {1.0, -1.0}) add(k, k, side * near_step());
    for (Index j = 0; j <= k && depth != Depth::gradient; ++j)
      for (double side : {1.0, -1.0}) add(j, k, side * far_step());
  }
  for (Worker& worker : workers_) {
    worker.moved.clear();
    worker.moved_pair.clear();
    for (const Moved& each : moved_) {
      auto own = each.likelihood->integral();
      if (rows_.effects() == 1) worker.moved.push_back(std::move(own));
      else worker.moved_pair.emplace_back(new PairIntegral(std::move(own), kPairTolerance));
    }
  }
}

// Derivatives in the likelihood's parameters after those in all else, which a group's sums have.
// Those of log G are central differences; the second ones, which rounding spoils, of longer steps
// than the first and those of the gradient. Integrals of two effects have fewer digits.
void IntegratedSource::add_parameters(const PairRows& of, const PairScale& scale, Depth depth,
                                      Worker& worker) const {
  if (depth == Depth::value || parameters_ == 0) return;
  EffectSums &sums = worker.sums, &near = worker.near;
  const Index size = sums.gradient.size();
  const bool bends = depth != Depth::gradient;
  sums.gradient.conservativeResize(size + parameters_);
  sums.gradient.tail(parameters_).setZero();
  if (bends) {
    sums.hessian.conservativeResize(size + parameters_, size + parameters_);
    sums.hessian.bottomRows(parameters_).setZero();
  }
  for (size_t m = 0; m < moved_.size(); ++m) {
    const Moved& to = moved_[m];
    const bool first = std::abs(to.step) == near_step();
    const Depth wanted = first && bends ? Depth::gradient : Depth::value;
    if (of.second) worker.moved_pair[m]->integrate(of, scale, wanted, near);
    else worker.moved[m]->integrate(of.rows, scale.f00, wanted, near);
    if (!first) {
      sums.hessian(size + to.k, size + to.j) +=
          (near.value - sums.value) / (to.step * to.step * (to.j == to.k ? 1 : 2));
      continue;
    }
    sums.gradient[size + to.k] += near.value / (2 * to.step);
    if (bends) sums.hessian.row(size + to.k).head(size) += near.gradient / (2 * to.step);
  }
  // A step of two parameters has what each bends too.
  for (Index k = 0; bends && k < parameters_; ++k)
    for (Index j = 0; j < k; ++j)
      sums.hessian(size + k, size + j) -=
          0.5 * (sums.hessian(size + j, size + j) + sums.hessian(size + k, size + k));
}

// ---- the effects' scale

void IntegratedSource::add_part(const Part& part, ConstVecRef theta, Scale& out) const {
  const Vec& unit = rows_.unit();
  const Index q = part.prior->effects();
  Vec hyper(part.prior->hyper_size(q));
  Mat precision(q, q);
  if (part.size > 0) part.prior->fix(theta.segment(part.start, part.size), hyper);
  if (q == 1) {
    Vec one(1);
    if (part.size == 0) part.prior->precision(hyper, one);
    const double s = (part.size > 0 ? std::exp(theta[part.start]) : 1 / std::sqrt(one[0])) /
                     unit[part.first];
    (part.first == 0 ? out.f.f00 : out.f.f11) = s;
    if (part.size > 0) out.to[part.first == 0 ? 0 : 2] = part.start;
    return;
  }
  if (part.size != 3)
    throw InvalidInput("prior", "The covariance of effects that are integrated out must be free.");
  const double* free = theta.data() + part.start;
  out.f = {std::exp(free[0]) / unit[0], free[1] / unit[1], std::exp(free[2]) / unit[1]};
  for (Index k = 0; k < 3; ++k) out.to[k] = part.start + k;
  out.factor[1] = 1 / unit[1];  // df10 inside by df10 outside
}

IntegratedSource::Scale IntegratedSource::scale_at(ConstVecRef theta) const {
  Scale out;
  out.f = {1, 0, 1};
  for (const Part& part : parts_) add_part(part, theta, out);
  const double s = out.f.f00 * out.f.f11;
  if (!std::isfinite(s) || !std::isfinite(out.f.f10) || !(s > 0))
    throw NumericalFailure(
        "A standard deviation of the effects that are integrated out is beyond what numbers "
        "hold. Give it a tighter prior.");
  return out;
}

void IntegratedSource::sums(ConstVecRef point, Depth depth, RowSums& out, Host& host) {
  const Scale scale = scale_at(point.tail(free_));
  follow(point);
  find_moved(depth);
  std::vector<RowSums> lane_sums(rows_.lanes().size(), RowSums(point.size()));
  each_group(point, host, [&](Index group, const PairRows& of, Worker& worker, Index lane) {
    if (!frames_.empty()) worker.grid->integrate(of, scale.f, depth, frames_[group], worker.sums);
    else if (of.second) worker.pair->integrate(of, scale.f, depth, worker.sums);
    else worker.single->integrate(of.rows, scale.f.f00, depth, worker.sums);
    add_parameters(of, scale.f, depth, worker);
    lane_sums[lane].rows() += static_cast<double>(of.rows.r);
    add(scale, depth, worker, lane_sums[lane]);
  });
  out.clear();
  for (const RowSums& lane : lane_sums) out += lane;
}

// A group's sums, whose coordinates are its own columns, three or one of scale and the likelihood's
// parameters, go to where they belong.
void IntegratedSource::add(const Scale& scale, Depth depth, Worker& worker,
                           RowSums& out) const {
  const EffectSums& sums = worker.sums;
  out.value() += sums.value;
  if (depth == Depth::value) return;
  const Index size = sums.gradient.size(), scales = rows_.effects() == 2 ? 3 : 1,
              own = size - scales - parameters_;
  const std::vector<Index>& columns = worker.block.columns;
  worker.to.resize(size);
  worker.factor.assign(size, 1);
  for (Index j = 0; j < own; ++j) worker.to[j] = columns.empty() ? j : columns[j];
  for (Index k = 0; k < scales; ++k) {
    worker.to[own + k] = scale.to[k] < 0 ? -1 : coefficients() + scale.to[k];
    worker.factor[own + k] = scale.factor[k];
  }
  for (Index k = 0; k < parameters_; ++k)
    worker.to[own + scales + k] = coefficients() + free_ - parameters_ + k;
  for (Index j = 0; j < size; ++j) {
    const Index to = worker.to[j];
    if (to < 0) continue;
    out.linear()[to] += worker.factor[j] * sums.gradient[j];
    if (depth == Depth::gradient) continue;
    for (Index i = j; i < size; ++i) {
      const Index row = worker.to[i];
      if (row >= 0)
        out.curvature()(std::max(row, to), std::min(row, to)) -=
            worker.factor[i] * worker.factor[j] * sums.hessian(i, j);
    }
  }
}

// ---- what is known of the effects

GroupPosterior IntegratedSource::law(ConstVecRef point, Host& host) {
  const Scale scale = scale_at(point.tail(free_));
  follow(point);
  const Index q = rows_.effects(), m = rows_.groups();
  GroupPosterior out;
  out.mean.resize(q, m);
  out.precision.resize(q * q, m);
  out.regression.setZero(coefficients() * q, m);
  each_group(point, host, [&](Index group, const PairRows& of, Worker& worker, Index) {
    law_of(group, of, scale, worker, out);
  });
  return out;
}

double IntegratedSource::draw(ConstVecRef point, const DrawKey& key, Vec& effects, Host& host) {
  const double s = scale_at(point.tail(free_)).f.f00;
  follow(point);
  Vec lane_sums = Vec::Zero(static_cast<Index>(rows_.lanes().size()));
  effects.resize(rows_.groups());
  each_group(point, host, [&](Index group, const PairRows& of, Worker& worker, Index lane) {
    Draws random(key, Purpose::groups, static_cast<std::uint64_t>(group));
    lane_sums[lane] += worker.single->draw(of.rows, s, random, effects[group]);
  });
  return lane_sums.sum();
}

void IntegratedSource::law_of(Index group, const PairRows& of, const Scale& scale, Worker& worker,
                              GroupPosterior& out) {
  const Index q = rows_.effects(), d = of.rows.d, p = coefficients();
  const std::vector<Index>& columns = worker.block.columns;
  const auto put = [&](const auto& slope, Index effect) {
    for (Index j = 0; j < d; ++j)
      out.regression(effect * p + (columns.empty() ? j : columns[j]), group) = -slope[j];
  };
  if (q == 1) {
    worker.single->law(of.rows, scale.f.f00, worker.law);
    out.mean(0, group) = worker.law.mean;
    out.precision(0, group) = 1 / worker.law.variance;
    return put(worker.law.slope, 0);
  }
  if (frames_.empty()) worker.pair->law(of, scale.f, worker.pair_law);
  else worker.grid->law(of, scale.f, frames_[group], worker.pair_law);
  out.mean.col(group) = worker.pair_law.mean;
  const Eigen::Matrix2d& c = worker.pair_law.covariance;
  const double det = c(0, 0) * c(1, 1) - c(1, 0) * c(1, 0);
  out.precision.col(group) << c(1, 1) / det, -c(1, 0) / det, -c(1, 0) / det, c(0, 0) / det;
  for (Index a = 0; a < 2; ++a) put(worker.pair_law.slope.col(a), a);
}

}  // namespace bsvm
