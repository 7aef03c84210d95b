// The two matrix products of a sweep of a factor model by Eigen, as R compiles packages: x'w, the
// variables' sums, and x a, the rows'. Seconds, the median of `repeats`.
// [[Rcpp::depends(RcppEigen)]]
#include <RcppEigen.h>
#include <algorithm>
#include <chrono>
#include <vector>

// [[Rcpp::export]]
double two_products(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> w,
                    int repeats) {
  Eigen::MatrixXd a(x.cols(), w.cols()), scores(x.rows(), w.cols());
  std::vector<double> seconds;
  double kept = 0;
  for (int k = 0; k < repeats; ++k) {
    const auto start = std::chrono::steady_clock::now();
    a.noalias() = x.transpose() * w;
    scores.noalias() = x * a;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds.push_back(took.count());
    kept += scores(0, 0);
  }
  std::sort(seconds.begin(), seconds.end());
  return kept == kept ? seconds[seconds.size() / 2] : -1;
}
