#include <cmath>

#include "r_convert.h"

namespace {

constexpr double kWide = 1e17;  // a standard deviation beside which the margin has no width
constexpr double kReach = 4.5;      // standard deviations of a normal variable
constexpr double kStep = 0.4;   // of the link; p(+1 | f) rises within a few of these
constexpr double kOwnStep = 0.5, kRestStep = 1;  // at most, of a normal variable
constexpr int kMostPoints = 1024;

// Equal steps along a normal variable, `sd` of which in the link, by which that moves by kStep.
struct NormalPoints {
  bsvm::Arr z, weight;

  void make(double sd, double widest) {
    const double step = std::min(widest, kStep / sd);
    const int half = sd > 0 ? std::min<int>(kMostPoints / 2, std::ceil(kReach / step)) : 0;
    z = bsvm::Arr::LinSpaced(2 * half + 1, half > 0 ? -kReach : 0, half > 0 ? kReach : 0);
    weight = (-0.5 * z.square()).exp();
    weight /= weight.sum();
  }
};

// Of class +1 under the normalised hinge.
double average_probability(const bsvm::Arr& link, const bsvm::Arr& weight) {
  const bsvm::Arr odds = 2 * link + 2 * link.max(-1).min(1);
  return (weight / (1 + (-odds.max(-700)).exp())).sum();
}

// sum_k a_k He_k(z)
void hermite_sum(const double* shape, int orders, const bsvm::Arr& z, bsvm::Arr& out) {
  bsvm::Arr before = bsvm::Arr::Zero(z.size()), now = bsvm::Arr::Ones(z.size()), next;
  out.setZero(z.size());
  for (int k = 0; k < orders; ++k) {
    out += shape[k] * now;
    next = z * now - k * before;
    before = now;
    now = next;
  }
}

}  // namespace

// Probabilities of class +1 under the normalised hinge likelihood, averaged over links
// N(mean, sd^2), both (n) and finite.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_normalised_probability(Rcpp::NumericVector mean, Rcpp::NumericVector sd) {
  return with_core_errors([&] {
    if (mean.size() != sd.size())
      throw bsvm::InvalidInput("sd", "There must be a standard deviation for each mean.");
    const auto likelihood =
        bsvm::Registry<bsvm::Likelihood>::make("hinge_normalized", bsvm::Params());
    Rcpp::NumericVector out(mean.size());
    for (R_xlen_t i = 0; i < mean.size(); ++i)
      out[i] = sd[i] > kWide ? R::pnorm(mean[i] / sd[i], 0, 1, true, false)
                             : std::exp(likelihood->averaged(1, mean[i], sd[i] * sd[i], 1).value);
    return out;
  });
}

// The same over links mean + own x + rest e: e is standard normal, x independent of it with the
// columns of `shape` (orders 0 .., n) as coefficients of Hermite's polynomials.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_shaped_probability(Rcpp::NumericVector mean, Rcpp::NumericVector own,
                                            Rcpp::NumericVector rest,
                                            Rcpp::NumericMatrix shape) {
  return with_core_errors([&] {
    if (own.size() != mean.size() || rest.size() != mean.size() || shape.ncol() != mean.size())
      throw bsvm::InvalidInput("shape", "There must be two standard deviations and a shape for "
                                        "each mean.");
    Rcpp::NumericVector out(mean.size());
    NormalPoints x, e;
    bsvm::Arr link, moved;
    for (R_xlen_t i = 0; i < mean.size(); ++i) {
      x.make(own[i], kOwnStep);
      e.make(rest[i], kRestStep);
      hermite_sum(&shape(0, static_cast<int>(i)), shape.nrow(), x.z, link);
      link = mean[i] + own[i] * link;
      for (bsvm::Index k = 0; k < e.z.size(); ++k) {
        moved = link + rest[i] * e.z[k];
        out[i] += e.weight[k] * average_probability(moved, x.weight);
      }
    }
    return out;
  });
}
