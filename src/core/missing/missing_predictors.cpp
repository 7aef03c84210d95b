#include "missing_predictors.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "data/column_gram.hpp"
#include "model/problem.hpp"
#include "unknown_rows.hpp"

namespace bsvm {

namespace {

void take_rows(const Params& params, Unknowns& out) {
  const Params::Array given = params.array("given");
  out.k = given.cols();
  out.given = given.data();
  ColumnGram gram(out.k);
  gram.add(given.data(), given.rows());
  out.gram = gram.sum();
  const Index auxiliary = std::count(out.column.begin(), out.column.end(), -1);
  if (auxiliary == 0) return;
  const Params::Array values = params.array("auxiliary");
  if (values.rows() != given.rows() || values.cols() != auxiliary)
    throw InvalidInput("missing", "Each auxiliary variable needs a value for each row.");
  out.auxiliary = values.data();
}

Index rows_of(const Params& params) {
  return params.has("gram") ? static_cast<Index>(params.positive("rows"))
                            : params.array("given").rows();
}

// Params: numbers mean_variance, scale, df and, of a mechanism, probit_variance; arrays column (0
// for an auxiliary variable), center, factor, auxiliary, given; indicators, by_given, by. Of rows that
// are read in parts, in place of auxiliary and given: gram, Z'Z of so many `rows`, a number;
// given_from, auxiliary_from, auxiliary_center, auxiliary_scale (MissingPredictors::Parts).
Unknowns unknowns_from(const Params& params) {
  Unknowns out;
  out.column = params.indices("column");
  out.d = static_cast<Index>(out.column.size());
  if (params.has("gram")) {
    out.gram = params.array("gram");
    out.k = out.gram.cols();
  } else take_rows(params, out);
  out.center = params.numbers("center");
  out.factor = params.numbers("factor");
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
    : MissingPredictors(unknowns_from(params), rows_of(params)) {
  if (params.has("gram")) parts_ = parts_from(params);
}

MissingPredictors::Parts MissingPredictors::parts_from(const Params& params) {
  const auto whole = [&](const char* name) {
    const Vec found = params.has(name) ? params.numbers(name) : Vec();
    return std::vector<Index>(found.data(), found.data() + found.size());
  };
  Parts out{whole("given_from"), whole("auxiliary_from"), Vec(), Vec()};
  if (out.auxiliary.empty()) return out;
  out.center = params.numbers("auxiliary_center");
  out.scale = params.numbers("auxiliary_scale");
  return out;
}

void MissingPredictors::look_at(const LatentPart& part) {
  if (!part.columns) {  // of levels alone
    unknowns_.given = unknowns_.auxiliary = nullptr;
    return;
  }
  const auto column = [&](Index from) {
    const double* all = from > 0 ? part.columns : part.beside;
    return Eigen::Map<const Vec>(all + ((from > 0 ? from : -from) - 1) * part.n, part.n);
  };
  given_.resize(part.n, unknowns_.k);
  for (Index a = 0; a < unknowns_.k; ++a)
    if (parts_.given[a] == 0) given_.col(a).setOnes();
    else given_.col(a) = column(parts_.given[a]);
  auxiliary_.resize(part.n, static_cast<Index>(parts_.auxiliary.size()));
  for (Index a = 0; a < auxiliary_.cols(); ++a)
    auxiliary_.col(a) =
        (column(parts_.auxiliary[a]).array() - parts_.center[a]) / parts_.scale[a];
  unknowns_.given = given_.data();
  unknowns_.auxiliary = auxiliary_.data();
}

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
