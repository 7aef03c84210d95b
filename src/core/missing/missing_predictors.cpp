#include "missing_predictors.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "model/problem.hpp"
#include "unknown_rows.hpp"

namespace bsvm {

namespace {

// Params: numbers mean_variance, scale, df and, of a mechanism, probit_variance; arrays column (0
// for an auxiliary variable), center, factor, auxiliary, given; indicators, by_given, by.
Unknowns unknowns_from(const Params& params) {
  Unknowns out;
  out.column = params.indices("column");
  out.d = static_cast<Index>(out.column.size());
  const Params::Array given = params.array("given");
  const Index auxiliary = std::count(out.column.begin(), out.column.end(), -1);
  out.k = given.cols();
  out.given = given.data();
  out.center = params.numbers("center");
  out.factor = params.numbers("factor");
  if (auxiliary > 0) {
    const Params::Array values = params.array("auxiliary");
    if (values.rows() != given.rows() || values.cols() != auxiliary)
      throw InvalidInput("missing", "Each auxiliary variable needs a value for each row.");
    out.auxiliary = values.data();
  }
  out.mean_variance = params.finite("mean_variance");
  out.scale = params.finite("scale");
  out.df = params.finite("df");
  out.indicators = params.indices("indicators");
  if (out.indicators.empty()) return out;
  out.by_given = params.indices("by_given");
  out.by = params.indices("by");
  out.probit_variance = params.finite("probit_variance");
  return out;
}

bool all_below(const std::vector<Index>& which, Index limit) {
  return std::all_of(which.begin(), which.end(),
                     [limit](Index k) { return k >= 0 && k < limit; });
}

const Register<Latent, MissingPredictors> normal_entry("normal");
const Register<Latent, MissingPredictors> selection_entry("selection");

}  // namespace

MissingPredictors::MissingPredictors(const Unknowns& unknowns, Index n)
    : unknowns_(unknowns), n_(n), slots_(unknowns_), model_(unknowns_, n) {}

MissingPredictors::MissingPredictors(const Params& params)
    : MissingPredictors(unknowns_from(params), params.array("given").rows()) {}

// A mechanism has no form in which the entries are integrated out.
bool MissingPredictors::supports(Use use) const {
  if (use == Use::augmented || use == Use::drawn) return true;
  return unknowns_.indicators.empty() && (use == Use::expected || use == Use::marginal);
}

void MissingPredictors::check(const Problem& problem) const {
  const Unknowns& of = unknowns_;
  if (n_ != problem.n)
    throw InvalidInput("missing", "The imputation model needs a row of what its variables are "
                                  "regressed on for each row of the design.");
  if (of.center.size() != of.d || of.factor.size() != of.d || !(of.factor.array() > 0).all())
    throw InvalidInput("missing", "Every variable of the imputation model needs a center and a "
                                  "factor above 0.");
  for (const Index column : of.column)
    if (column < -1 || column >= problem.columns())
      throw InvalidInput("missing", "The imputation model names a column that does not exist.");
  if (!all_below(of.indicators, of.d) || !all_below(of.by, of.d) || !all_below(of.by_given, of.k))
    throw InvalidInput("missing", "The model of the indicators names a variable that does not "
                                  "exist.");
  if (!(of.mean_variance > 0 && of.scale > 0 && of.df > 0))
    throw InvalidInput("missing", "The prior of the imputation model needs numbers above 0.");
}

std::unique_ptr<LatentRows> MissingPredictors::rows(const Problem& problem,
                                                    const Partition& partition) const {
  return std::make_unique<UnknownRows>(unknowns_, problem, partition);
}

NamedMatrices MissingPredictors::report(const State& state) const {
  return {{"mean", slots_.mean(state)},
          {"covariance", model_.covariance(state)},
          {"probit", slots_.probit(state)}};
}

// ImputationModel::drawn() has them in this order.
NamedMatrices MissingPredictors::report_drawn(ConstVecRef drawn) const {
  const Index d = unknowns_.d, k = unknowns_.k;
  const auto part = [&](Index first, Index rows, Index columns) {
    return Mat(Eigen::Map<const Mat>(drawn.data() + first, rows, columns));
  };
  return {{"mean", part(0, k, d)},
          {"covariance", part(k * d, d, d)},
          {"probit", part((k + d) * d, slots_.probits(), slots_.indicators())}};
}

}  // namespace bsvm
