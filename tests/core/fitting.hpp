#pragma once
#include "coefficients/coefficients.hpp"
#include "gaussian/approximation.hpp"
#include "oracle.hpp"
#include "rows/memory/memory_source.hpp"
#include "variational/engine.hpp"

namespace bsvm_test {

struct Fit {
  Result result;
  OutsideMoments outside;
};

// To the last bits: nothing in the stopping rule is wider than rounding.
Options exact_options();

std::unique_ptr<Engine> engine_vb(bool accelerate = true);

Fit fit(const Problem& problem, const Options& options = exact_options(), int threads = 1,
        bool accelerate = true);
Fit fit(const Problem& problem, RowSource& source, const Options& options, Host& host,
        bool accelerate = true);

// Gaussian variational inference: to where the stopping rule finds nothing more.
Options close_options();

// Of a Problem without integrated effects; `matched`: its moments too. Both outlive it.
std::unique_ptr<Conditional> ascent(const Problem& problem, const Options& options, Host& host,
                                    bool matched = false, int threads = 1);

// The highest node, and how it was found.
struct Top {
  Node node;
  Progress progress;
  OutsideMoments outside;
};
Top climb(const Problem& problem, bool matched = false, const Options& options = close_options());

// The whole q(b, u) in the oracle's order.
VecL full_mean(const OutsideMoments& outside);
MatL full_covariance(const OutsideMoments& outside);

// The twin holding a fit's q.
Twin twin_at(const Data& data, const Fit& found);

bool same_bits(const Vec& a, const Vec& b);
bool same_bits(const Mat& a, const Mat& b);

}  // namespace bsvm_test
