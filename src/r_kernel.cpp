#include "r_kernel.h"

#include "core/base/registry.hpp"
#include "core/kernel/product.hpp"
#include "r_convert.h"

namespace {

// (d, n) of R's (n, d), with as many variables as the kernel has.
bsvm::Mat to_inputs(const Rcpp::NumericMatrix& x, const bsvm::Kernel& kernel) {
  if (x.ncol() != kernel.variables())
    throw bsvm::InvalidInput("x", "Inputs must have a column for each variable of the kernel.");
  return Eigen::Map<const bsvm::Mat>(x.begin(), x.nrow(), x.ncol()).transpose();
}

bsvm::Vec to_theta(const Rcpp::NumericVector& theta, const bsvm::Kernel& kernel) {
  if (theta.size() != kernel.size())
    throw bsvm::InvalidInput("theta", "There must be a number for each parameter of the kernel.");
  return to_vec(theta);
}

}  // namespace

std::unique_ptr<bsvm::Kernel> to_kernel(const Rcpp::List& factors) {
  std::vector<std::unique_ptr<bsvm::Kernel>> made;
  for (R_xlen_t k = 0; k < factors.size(); ++k) {
    const Rcpp::List factor = factors[k];
    made.push_back(bsvm::Registry<bsvm::Kernel>::make(
        Rcpp::as<std::string>(factor["name"]),
        to_params(Rcpp::as<std::string>(factor["name"]), factor["parameters"], factor["arrays"])));
  }
  if (made.size() == 1) return std::move(made[0]);
  return std::make_unique<bsvm::Product>(std::move(made));
}

// (n, m): the kernel of the rows of x (n, d) and v (m, d) at theta.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_kernel(Rcpp::List kernel, Rcpp::NumericMatrix x, Rcpp::NumericMatrix v,
                                Rcpp::NumericVector theta) {
  return with_core_errors([&] {
    const auto made = to_kernel(kernel);
    const bsvm::Mat values = bsvm::values_of_rows(*made, to_inputs(x, *made), to_inputs(v, *made),
                                                  to_theta(theta, *made));
    Rcpp::NumericMatrix out(x.nrow(), v.nrow());
    Eigen::Map<bsvm::Mat>(out.begin(), x.nrow(), v.nrow()) = values.topRows(x.nrow());
    return out;
  });
}

// (n): the kernel of each row of x (n, d) and itself.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_kernel_diagonal(Rcpp::List kernel, Rcpp::NumericMatrix x,
                                         Rcpp::NumericVector theta) {
  return with_core_errors([&] {
    const auto made = to_kernel(kernel);
    return to_numeric(made->diagonal(to_inputs(x, *made), to_theta(theta, *made)));
  });
}
