#pragma once
#include <string>
#include <vector>

#include "kernel/points.hpp"
#include "links.hpp"
#include "model.hpp"

namespace bsvm {

// (K, M) inducing points of a Gaussian process of scores: of many points with the scores' prior
// those that leave least over, one after the other. The same for all chains.
Mat score_points(const ProcessPart& process, Index factors);

// (K, J) numbers z with equal weights that stand for N(0, I): polynomials up to degree three have
// their exact expectation.
Mat normal_points(Index k);

// Names of the numbers that are inferred: `process.variance`, and of the kernel's, `kernel_1`, ...,
// as they are, not their logarithms.
std::vector<std::string> process_numbers(const ProcessPart& process);

// A process with this standard deviation, g(w) = sd h(w)'b + e, e ~ N(0, sd^2 left-over(w)), by the
// features h of a kernel of mean variance one; b (M).
struct ScoreFunction {
  const Features& features;
  const Vec& b;
  double sd;
};

// Of w (K, r): means and variances given w.
LinkMoments at_scores(const ScoreFunction& of, const Mat& w);

// Given x alone, by normal_points(); without feedback at mean scores. The left-over takes most of
// the time: with `in_pairs` it is that of a pair of points, another one from row to row, for its
// mean over rows.
LinkMoments process_links(const ScoreFunction& of, const Scores& scores, bool feedback,
                          bool in_pairs, int threads, Host& host);

}  // namespace bsvm
