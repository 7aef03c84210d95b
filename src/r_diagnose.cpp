#include "core/chain/diagnosis.hpp"
#include "r_convert.h"

// A row a quantity of `draws` (quantity, draw, chain): Rhat, effective sample sizes of bulk and
// tail, Monte Carlo error of the mean; NA where there is none.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_diagnose(Rcpp::NumericVector draws, int rows, int kept, int chains) {
  const Eigen::Map<const bsvm::Mat> all(draws.begin(), rows, Eigen::Index{kept} * chains);
  Rcpp::NumericMatrix out(rows, 4);
  for (int k = 0; k < rows; ++k) {
    const bsvm::Mat own = Eigen::Map<const bsvm::Mat>(bsvm::Vec(all.row(k)).data(), kept, chains);
    const bsvm::Diagnosis seen = bsvm::diagnose(own);
    const double n = static_cast<double>(own.size());
    const double sd = std::sqrt((own.array() - own.mean()).square().sum() / (n - 1));
    const double row[] = {seen.rhat, seen.bulk, seen.tail, sd / std::sqrt(seen.mean)};
    for (int j = 0; j < 4; ++j) out(k, j) = std::isnan(row[j]) ? NA_REAL : row[j];
  }
  return out;
}
