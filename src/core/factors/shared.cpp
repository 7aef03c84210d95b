#include "shared.hpp"

#include <cmath>

#include "process_links.hpp"
#include "starts.hpp"

namespace bsvm {

Gaps gaps_of(const std::vector<Index>& missing, Index size) {
  Gaps out;
  const Index count = static_cast<Index>(missing.size());
  out.seen = static_cast<double>(size - count);
  out.lists_seen = 2 * count > size;
  if (!out.lists_seen) {
    out.listed = missing;
    return out;
  }
  size_t next = 0;
  for (Index k = 0; k < size; ++k) {
    if (next < missing.size() && missing[next] == k) ++next;
    else out.listed.push_back(k);
  }
  return out;
}

SharedFactors::SharedFactors(const FactorModel& of) : model(of) {
  check(model);
  for (Index n = 0; n < model.n(); ++n)
    if (!std::isnan(model.y[n])) labelled.push_back(n);
  find_gaps();
  squares = x().colwise().squaredNorm();
  if (model.turned) turned = std::make_unique<TurnedRows>(x());
  for (Index k = 0; k < model.d() && intercept < 0; ++k) {
    const auto column = model.covariates.col(k);
    if (column[0] != 0 && (column.array() == column[0]).all()) intercept = k;
  }
  start = start_scores(x(), model.factors);
  if (!model.linear() && !model.process.exact)
    points = score_points(model.process, model.factors);
}

void SharedFactors::find_gaps() {
  std::vector<std::vector<Index>> rows(static_cast<size_t>(model.n()));
  place.assign(static_cast<size_t>(model.n()), -1);
  gap_of.assign(static_cast<size_t>(model.p()), -1);
  for (Index i = 0; i < model.p(); ++i) {
    std::vector<Index> own;
    for (Index n = 0; n < model.n(); ++n)
      if (std::isnan(model.x(n, i))) {
        own.push_back(n);
        rows[static_cast<size_t>(n)].push_back(i);
      }
    if (own.empty()) continue;
    gap_of[static_cast<size_t>(i)] = static_cast<Index>(variable_gaps.size());
    variable_gaps.push_back(gaps_of(own, model.n()));
  }
  for (size_t n = 0; n < rows.size(); ++n)
    if (!rows[n].empty()) {
      place[n] = static_cast<Index>(row_gaps.size());
      row_gaps.push_back(gaps_of(rows[n], model.p()));
    }
  if (!row_gaps.empty()) filled_ = model.x.array().isNaN().select(0, model.x);
}

}  // namespace bsvm
