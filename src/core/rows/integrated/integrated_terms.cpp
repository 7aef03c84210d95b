// What each group, and each row given the others of its group, adds to the log-likelihood of an
// IntegratedSource.
#include "integrated_worker.hpp"

namespace bsvm {

namespace {

// A group's rows without one of them, for likelihoods with a closed form. Rows 1, 2, .. are there
// to begin with; where one is to be left out, the one before it takes its place.
class Others {
 public:
  explicit Others(const PairRows& all) : all_(all), values_(all.rows.r, 5) {
    for (Index i = 1; i < all.rows.r; ++i) put(i, i - 1);
  }

  PairRows without(Index row) {
    if (row > 0) put(row - 1, row - 1);
    const Index r = all_.rows.r - 1;
    return {{column(0), all_.rows.weight ? column(1) : nullptr, column(2), column(3), nullptr, 0,
             r},
            all_.second ? column(4) : nullptr};
  }

 private:
  const double* column(Index k) const { return values_.col(k).data(); }

  void put(Index row, Index at) {
    const EffectRows& rows = all_.rows;
    values_(at, 0) = rows.y[row];
    if (rows.weight) values_(at, 1) = rows.weight[row];
    values_(at, 2) = rows.o[row];
    values_(at, 3) = rows.z[row];
    if (all_.second) values_(at, 4) = all_.second[row];
  }

  const PairRows& all_;
  Mat values_;  // (r, 5) y, weight, o, z, second
};

// Its rows' columns are not looked at.
PairRows without_columns(PairRows rows) {
  rows.rows.c = nullptr;
  rows.rows.d = 0;
  return rows;
}

}  // namespace

// Logs of the integrals without each row and of all (r + 1), over shared nodes.
const Vec& IntegratedSource::logs_without(const PairRows& of, const PairScale& scale,
                                          Worker& worker) const {
  return of.second ? worker.without->integrate(of, scale)
                   : worker.without->integrate(of.rows, scale.f00);
}

double IntegratedSource::log_integral(const PairRows& of, const PairScale& scale,
                                      Worker& worker) const {
  if (of.rows.r == 0) return 0;
  if (of.second && worker.without) return logs_without(of, scale, worker)[of.rows.r];
  if (of.second) worker.pair->integrate(of, scale, Depth::value, worker.sums);
  else worker.single->integrate(of.rows, scale.f00, Depth::value, worker.sums);
  return worker.sums.value;
}

Vec IntegratedSource::row_terms_of(const PairRows& of, const PairScale& scale,
                                   Worker& worker) const {
  const Index r = of.rows.r;
  if (worker.without) {
    const Vec& logs = logs_without(of, scale, worker);
    return logs[r] - logs.head(r).array();
  }
  const double whole = log_integral(of, scale, worker);
  Others others(of);
  Vec out(r);
  for (Index i = 0; i < r; ++i) out[i] = whole - log_integral(others.without(i), scale, worker);
  return out;
}

// The scratch of what only terms need.
void IntegratedSource::prepare_terms() {
  for (Worker& worker : workers_)
    if (worker.single->line() && !worker.without)
      worker.without = std::make_unique<LeaveOneOut>(*worker.single->line());
}

Mat IntegratedSource::group_terms(ConstMatRef points, Host& host) {
  Mat out(rows_.groups(), points.cols());
  for (Index k = 0; k < points.cols(); ++k) {
    const Scale scale = scale_at(points.col(k).tail(free_));
    follow(points.col(k));
    prepare_terms();
    each_group(points.col(k), host, [&](Index group, const PairRows& of, Worker& worker, Index) {
      out(group, k) = log_integral(without_columns(of), scale.f, worker);
    });
  }
  return out;
}

Mat IntegratedSource::row_terms(ConstMatRef points, Host& host) {
  const Partition& partition = rows_.partition();
  Mat out(static_cast<Index>(partition.order.size()), points.cols());
  for (Index k = 0; k < points.cols(); ++k) {
    const Scale scale = scale_at(points.col(k).tail(free_));
    follow(points.col(k));
    prepare_terms();
    each_group(points.col(k), host, [&](Index group, const PairRows& of, Worker& worker, Index) {
      const Vec terms = row_terms_of(without_columns(of), scale.f, worker);
      const int* rows = partition.order.data() + partition.group_start[group];
      for (Index i = 0; i < terms.size(); ++i) out(rows[i], k) = terms[i];
    });
  }
  return out;
}

}  // namespace bsvm
