// Quantiles of the effects an IntegratedSource integrates out.
#include <algorithm>
#include <cmath>

#include "integrated_worker.hpp"

namespace bsvm {

namespace {

constexpr double kReach = 8;        // standard deviations, to begin with
constexpr Index kGrid = 33;
constexpr int kMostSteps = 100;
constexpr double kTolerance = 1e-10;  // in standard deviations, and of a probability

// A quantile between two points, F - p at which is negative and positive.
struct Bracket {
  double low, high, below, above;
  int side = 0;  // which end stayed last

  double middle() const {
    const double at = high - above * (high - low) / (above - below);
    return at > low && at < high ? at : 0.5 * (low + high);
  }
  // False position; an end that stays counts half (Illinois).
  void take(double at, double gap) {
    if (gap < 0) {
      low = at;
      below = gap;
      if (side == -1) above /= 2;
      side = -1;
    } else {
      high = at;
      above = gap;
      if (side == 1) below /= 2;
      side = 1;
    }
  }
};

// From a grid, widened until it holds every probability.
template <class F>
std::vector<Bracket> find_brackets(F f, double centre, double spread, ConstVecRef p) {
  Vec at, value(kGrid);
  for (double reach = kReach;; reach *= 2) {
    at.setLinSpaced(kGrid, centre - reach * spread, centre + reach * spread);
    f(at, value);
    if ((value[0] < p.minCoeff() && value[kGrid - 1] > p.maxCoeff()) || reach > 1e9) break;
  }
  std::vector<Bracket> out;
  for (Index j = 0; j < p.size(); ++j) {
    Index k = 1;
    while (k < kGrid - 1 && value[k] < p[j]) ++k;
    out.push_back({at[k - 1], at[k], std::min(value[k - 1] - p[j], -1e-300),
                   std::max(value[k] - p[j], 1e-300)});
  }
  return out;
}

// Where an increasing F, dear to evaluate, is p: all at once.
template <class F>
void find_quantiles(F f, double centre, double spread, ConstVecRef p, VecRef out) {
  std::vector<Bracket> brackets = find_brackets(f, centre, spread, p);
  Vec at(p.size()), value(p.size());
  for (int step = 0; step < kMostSteps; ++step) {
    for (Index j = 0; j < p.size(); ++j) at[j] = brackets[j].middle();
    f(at, value);
    bool done = true;
    for (Index j = 0; j < p.size(); ++j) {
      const double gap = value[j] - p[j];
      if (std::abs(gap) > kTolerance * std::min(p[j], 1 - p[j]) &&
          brackets[j].high - brackets[j].low > kTolerance * spread) {
        done = false;
        brackets[j].take(at[j], gap);
      }
    }
    if (done) break;
  }
  out = at;
}

}  // namespace

// Points with their weights, and what is asked.
struct IntegratedSource::Mixture {
  std::vector<Scale> scale;
  const Vec weight, p;
  std::vector<CurrentLikelihood> likelihood;  // (points), or none where the source's is that of all
};

void IntegratedSource::quantiles_of(const PairRows& rows, Index first, Index effect,
                                    const Mixture& of, Worker& worker, VecRef out) const {
  const Index points = of.weight.size();
  const auto single = [&](Index k) -> EffectIntegral& {
    return worker.moved.empty() ? *worker.single : *worker.moved[k];
  };
  PairRows now = rows;
  double mean = 0, square = 0;
  for (Index k = 0; k < points; ++k) {
    now.rows.o = worker.o.col(k).data() + first;
    if (now.second) worker.pair->law(now, of.scale[k].f, worker.pair_law);
    else single(k).law(now.rows, of.scale[k].f.f00, worker.law);
    const double own = now.second ? worker.pair_law.mean[effect] : worker.law.mean;
    const double variance =
        now.second ? worker.pair_law.covariance(effect, effect) : worker.law.variance;
    const double gap = own - mean, share = of.weight.head(k + 1).sum();
    mean += gap * of.weight[k] / share;
    square += of.weight[k] * (variance + gap * (own - mean));
  }
  Vec part(std::max(kGrid, of.p.size()));
  const auto distribution = [&](ConstVecRef at, VecRef sum) {
    sum.setZero();
    for (Index k = 0; k < points; ++k) {
      now.rows.o = worker.o.col(k).data() + first;
      auto own = part.head(at.size());
      if (now.second) worker.pair->distribution(now, of.scale[k].f, effect, at, own);
      else single(k).distribution(now.rows, of.scale[k].f.f00, at, own);
      sum += of.weight[k] * own;
    }
  };
  find_quantiles(distribution, mean, std::sqrt(square), of.p, out);
}

Mat IntegratedSource::quantiles(ConstMatRef points, ConstVecRef weights,
                                ConstVecRef probabilities, Host& host) {
  const Index q = rows_.effects(), d = coefficients();
  Mixture of{{}, weights / weights.sum(), probabilities, {}};
  for (Index k = 0; k < points.cols(); ++k) {
    of.scale.push_back(scale_at(points.col(k).tail(free_)));
    if (parameters_ == 0) continue;
    of.likelihood.push_back(likelihood_);
    of.likelihood.back().follow(points.col(k).tail(parameters_));
  }
  for (Worker& worker : workers_) {
    worker.moved.clear();
    for (const auto& each : of.likelihood) worker.moved.push_back(each->integral());
  }
  Mat out(probabilities.size(), q * rows_.groups());
  run_lanes(static_cast<Index>(rows_.lanes().size()), threads_, host,
            [&](Index lane, int number, const Checkpoint& checkpoint) {
    Worker& worker = workers_[number];
    for (Index k = rows_.lanes()[lane].first; k < rows_.lanes()[lane].last; ++k) {
      const BlockRange& range = rows_.partition().blocks[k];
      worker.o.resize(range.rows, points.cols());
      for (Index j = 0; j < points.cols(); ++j) {
        rows_.load(range, points.col(j).head(d), worker.block);
        worker.o.col(j) = worker.block.o;
      }
      for (Index g = range.first_group; g < range.first_group + range.groups; ++g) {
        checkpoint();
        const PairRows rows = rows_.group(g, range, worker.block);
        const Index first = rows_.partition().group_start[g] - range.first_row;
        for (Index a = 0; a < q; ++a) {
          quantiles_of(rows, first, a, of, worker, out.col(g * q + a));
          out.col(g * q + a) *= rows_.unit()[a];
        }
      }
    }
  });
  return out;
}

}  // namespace bsvm
