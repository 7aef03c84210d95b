#pragma once
#include <memory>
#include <vector>

#include "base/types.hpp"
#include "prior/prior.hpp"

namespace bsvm {

// Several responses of each row that share a design (004, sections 3 and 4; models.md, rows 15 to
// 18):
//
//   y_i = B'x_i + sum over factors of U_l'z_i + e_i,   e_i ~ N(0, Sigma),
//
// B (p, q), U_l (d, q) the effects of the row's level l, vec(U_l) ~ N(0, Psi). A row of weight w
// counts w times. What is missing of a row's responses is unknown like the coefficients.

// Columns of the design whose coefficients have a prior of one kind, for each response its own.
struct ColumnPart {
  std::vector<Index> columns;
  // None, or these columns in sets of which the model has one, each with the same probability: the
  // coefficients of the others are zero. Sets have one variance together, or as many columns each.
  std::vector<std::vector<Index>> choices;
  std::vector<std::unique_ptr<Prior>> priors;  // (q)
  double unseen = 0;  // coefficients of each response that no row can see
  Vec start;          // (q) logarithms of the standard deviations to start about, or empty

  // How many of the columns are in the model.
  Index width() const {
    return static_cast<Index>(choices.empty() ? columns.size() : choices[0].size());
  }
};

// A grouping factor.
struct LevelPart {
  std::vector<int> code;  // (n) from zero
  Index levels = 0;
  Mat z;                         // (n, d) multipliers
  std::unique_ptr<Prior> prior;  // of d q effects, by response and then effect
  Index effects() const { return z.cols(); }
};

// The second layer of each response (loss.hpp).
struct LossPart {
  std::unique_ptr<Prior> variance;  // normal: of its variance; or null, and then
  double scale = 0, nu = 0, a = 1, b = 1;  // as make_tube_loss() has them
};

struct Responses {
  Mat x;       // (n, p)
  Mat y;       // (n, q), NaN where missing
  Vec weight;  // (n) > 0, or empty: all one
  std::vector<ColumnPart> parts;
  std::vector<LevelPart> factors;
  std::unique_ptr<Prior> residual;  // of Sigma
  Vec start;  // (q) logarithms of the residual standard deviations to start about, or empty
  std::vector<LossPart> losses;  // (q) or empty: y_i = z_i + another residual
  // Empirical Bayes: after so many sweeps the hyper-parameters of columns are held where stochastic
  // approximation EM (Delyon, Lavielle & Moulines 1999) has brought them; 0: drawn.
  Index settled = 0;

  Index n() const { return x.rows(); }
  Index p() const { return x.cols(); }
  Index q() const { return y.cols(); }
};

// For each response, all columns.
bool has_one_variance(const ColumnPart& part);

// What is kept of a draw of hyper-parameters: of one prior, behind others; and of all columns, by
// response and part, `hyper` by part and response.
void add_drawn(const Prior& prior, const Vec& hyper, std::vector<double>& to);
std::vector<double> drawn_of_columns(const Responses& model,
                                     const std::vector<std::vector<Vec>>& hyper);

// Throws InvalidInput unless the parts fit together.
void check(const Responses& model);

}  // namespace bsvm
