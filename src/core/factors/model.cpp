#include "model.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace bsvm {

namespace {

std::string in_words(double x) {
  std::string out = std::to_string(x);
  return out.find('.') == std::string::npos ? out : out.substr(0, out.find_last_not_of("0") + 1);
}

void need_positive(double x, const char* argument, const char* what) {
  if (!(x > 0 && std::isfinite(x)))
    throw InvalidInput(argument, std::string(what) + " must be positive and finite; it is " +
                                     in_words(x) + ".");
}

void check_rows(const FactorModel& model) {
  const Index n = model.n();
  if (n < 1 || model.p() < 1)
    throw InvalidInput("x", "The variables need a row and a column at least; there are " +
                                std::to_string(n) + " rows and " + std::to_string(model.p()) +
                                " columns.");
  if (model.x.array().isInf().any())
    throw InvalidInput("x", "The variables must be finite, or NaN where they are missing.");
  if (model.covariates.rows() != n || !model.covariates.allFinite())
    throw InvalidInput("covariates", "The covariates need finite numbers for each of the " +
                                         std::to_string(n) + " rows.");
  if (model.y.size() != n)
    throw InvalidInput("y", "There must be as many responses as rows, " + std::to_string(n) +
                                "; there are " + std::to_string(model.y.size()) + ".");
  for (const Vec* own : {&model.weight, &model.offset})
    if (own->size() > 0 && (own->size() != n || !own->allFinite()))
      throw InvalidInput(own == &model.weight ? "weight" : "offset",
                         "Weights and offsets must be finite, one for each row.");
  if (model.weight.size() > 0 && !(model.weight.minCoeff() > 0))
    throw InvalidInput("weight", "The weights must be positive.");
  if (model.factors < 0)
    throw InvalidInput("factors", "The number of factors must be zero or more; it is " +
                                      std::to_string(model.factors) + ".");
}

void check_response(const FactorModel& model) {
  if (!model.likelihood) throw InvalidInput("likelihood", "There must be a likelihood.");
  std::vector<double> seen;
  for (Index i = 0; i < model.n(); ++i)
    if (!std::isnan(model.y[i])) seen.push_back(model.y[i]);
  if (!seen.empty()) model.likelihood->check(seen.data(), static_cast<Index>(seen.size()));
  const Index free = model.likelihood->free_size();
  if (model.likelihood->coefficients() > 0)
    throw InvalidInput("likelihood", "A likelihood with coefficients of its own does not go with "
                                     "factors.");
  if (static_cast<Index>(model.parameters.size()) != free)
    throw InvalidInput("prior", "Each of the likelihood's " + std::to_string(free) +
                                    " parameters needs a prior; there are " +
                                    std::to_string(model.parameters.size()) + ".");
  for (const auto& prior : model.parameters)
    if (prior->free_size(1) != 1)
      throw InvalidInput("prior", "A parameter of the likelihood needs a prior of a number.");
  // refuses a likelihood of which nothing can be integrated out
  const double y = seen.empty() ? 1 : seen[0];
  (free > 0 ? model.likelihood->with(Vec::Zero(free))->averaged(y, 0, 1, 1)
            : model.likelihood->averaged(y, 0, 1, 1));
}

bool of_coefficients(const Prior& prior) {
  return prior.supports(Use::drawn) && !prior.selects() && prior.effects() == 1 &&
         !prior.of_number();
}

void check_coefficients(const FactorModel& model) {
  std::vector<int> seen(static_cast<size_t>(model.coefficients()), 0);
  for (const CoefficientPart& part : model.parts) {
    if (!part.prior || !of_coefficients(*part.prior))
      throw InvalidInput("prior", "This prior does not go with coefficients of factors.");
    for (const Index k : part.places) {
      if (k < 0 || k >= model.coefficients())
        throw InvalidInput("parts", "A part has coefficient " + std::to_string(k + 1) + " of " +
                                        std::to_string(model.coefficients()) + ".");
      ++seen[static_cast<size_t>(k)];
    }
  }
  for (int times : seen)
    if (times != 1) throw InvalidInput("parts", "Each coefficient must be in one part.");
}

void check_loadings(const FactorModel& model) {
  const LoadingsPart& own = model.loadings;
  need_positive(model.mean_variance, "mean_variance", "The variance of the means");
  need_positive(model.noise.shape, "noise", "The shape of the noise precisions' prior");
  need_positive(model.noise.rate, "noise", "The rate of the noise precisions' prior");
  if (own.local) {
    if (own.rate != 0) return need_positive(own.rate, "loadings", "The rate of the variances");
    need_positive(own.shape, "loadings", "The shape of the rate's prior");
    return need_positive(own.rate_of_rate, "loadings", "The rate of the rate's prior");
  }
  if (static_cast<Index>(own.priors.size()) != model.factors)
    throw InvalidInput("loadings", "Each of the " + std::to_string(model.factors) +
                                       " factors needs a prior of its loadings; there are " +
                                       std::to_string(own.priors.size()) + ".");
  for (const auto& prior : own.priors)
    if (!of_coefficients(*prior) || !prior->exchangeable())
      throw InvalidInput("loadings", "The loadings of a factor need a prior of one variance.");
}

void check_process(const FactorModel& model) {
  if (model.linear()) return;
  const ProcessPart& own = model.process;
  const Index size = own.kernel->size();
  if (own.kernel->variables() != model.factors)
    throw InvalidInput("kernel", "The kernel must have a variable for each of the " +
                                     std::to_string(model.factors) + " factors; it has " +
                                     std::to_string(own.kernel->variables()) + ".");
  if (own.start.size() != size || static_cast<Index>(own.numbers.size()) != size ||
      !own.start.allFinite())
    throw InvalidInput("kernel", "Each of the kernel's " + std::to_string(size) +
                                     " numbers needs a finite start, and a prior or none.");
  for (const auto& prior : own.numbers)
    if (prior && prior->free_size(1) != 1)
      throw InvalidInput("prior", "A number of the kernel needs a prior of a number.");
  if (!own.variance || !own.variance->exchangeable() || own.variance->free_size(1) > 1 ||
      own.variance->effects() != 1 || own.variance->selects())
    throw InvalidInput("prior", "The process needs a prior of one variance.");
  if (own.exact && !model.likelihood->supports(Use::drawn))
    throw InvalidInput("likelihood", "A process without inducing points needs a likelihood with "
                                     "latent scales.");
  if (own.exact && (model.factors < 1 || model.y.array().isNaN().all()))
    throw InvalidInput("kernel", "A process without inducing points needs a factor and a row with "
                                 "a response.");
  if (!own.exact && own.points < 1)
    throw InvalidInput("points", "There must be an inducing point at least.");
}

void check_turned(const FactorModel& model) {
  if (!model.turned) return;
  if (model.x.array().isNaN().any())
    throw InvalidInput("x", "Variables with missing values need the general form.");
  if (model.loadings.local)
    throw InvalidInput("loadings", "Local shrinkage of loadings needs the general form.");
  if (model.noise.each)
    throw InvalidInput("noise", "A noise precision for each variable needs the general form.");
  if (model.p() < model.n() + model.factors + 1)
    throw InvalidInput("x", "The reduced form needs at least as many variables as rows and factors "
                            "and one; there are " + std::to_string(model.p()) + " variables, " +
                                std::to_string(model.n()) + " rows and " +
                                std::to_string(model.factors) + " factors.");
}

}  // namespace

void check(const FactorModel& model) {
  check_rows(model);
  check_response(model);
  check_coefficients(model);
  check_loadings(model);
  check_process(model);
  check_turned(model);
}

}  // namespace bsvm
