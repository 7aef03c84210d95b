#pragma once
#include <optional>
#include <vector>

#include "levels.hpp"

namespace bsvm {

// (A' diag(theta) A + diag(d)) x = v for theta (n) and d (P) positive, which may be of any size.
// Where columns are effects of one grouping factor these are eliminated (levels.hpp). Else, with y =
// diag(theta) A x, F some of the columns and R the others, that is
//
//   (diag(1/theta) + A_R diag(1/d_R) A_R') y - A_F x_F = A_R diag(1/d_R) v_R
//   A_F'y + diag(d_F) x_F = v_F
//
// With B for the first matrix, x_F needs the factor of diag(d_F) + A_F' B^{-1} A_F. Three cases:
//
//   few columns: F is all of them, B = diag(1/theta): the primal P x P system;
//   few rows: F are the columns that d hardly holds, B is factored: n x n;
//   many of both: B is only known by its diagonal. Conjugate gradients on y, x_F going along, the
//     system with that diagonal for preconditioner, F the columns that matter most, more of them
//     where iterations were many.
//
// No matrix of more than `most` rows is ever formed. 1/d_F and theta never stand in a sum with
// others, so both may be nearly infinite: the support vectors and the coefficients that are not
// zero in an interior point method.
class NormalEquations {
 public:
  static constexpr Index kMostFactored = 3000;

  // most: rows a factored matrix may have.
  explicit NormalEquations(const Design& design, Index most = kMostFactored);

  // False where the factor can't be had. Throws Interrupted.
  bool set(ConstVecRef theta, ConstVecRef d, Host& host);

  struct Solution {
    Vec x, image, rows;  // x; A x; diag(theta) A x, as far as the system was solved
  };
  Solution solve(ConstVecRef v, Host& host);

 private:
  enum class Way { levels, columns, rows, iterative };
  struct Point {
    Vec y, chosen;
  };

  bool factor_rows(Host& host);
  Point iterate(ConstVecRef v, Host& host);
  void choose();
  Vec solve_base(Vec r) const;                  // B^{-1} r, or that of its diagonal
  Point solve_point(const Vec& r, const Vec& v) const;  // the system with that
  Vec apply(const Point& of) const;             // left side of the first equation
  Vec others(ConstVecRef x) const;              // x / d, zero in F
  Vec pick(ConstVecRef x) const;                // x_F
  Vec spread(ConstVecRef chosen) const;         // into (P)

  const Design& design_;
  Way way_;
  std::optional<LevelEquations> levels_;  // for that way
  Vec theta_, d_, inverse_d_;       // the last zero in F
  std::vector<Index> chosen_;       // F
  Mat base_, factor_;               // Cholesky factors, lower
  Vec base_diagonal_;
  Index most_ = 250;  // columns that F may have in the third case: more after many iterations
};

}  // namespace bsvm
