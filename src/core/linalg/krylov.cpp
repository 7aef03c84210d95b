#include "krylov.hpp"

#include <vector>

#include "eigen_modules.hpp"

namespace bsvm {

//  name     size          meaning
//  basis    (n, k + 1)    orthonormal, of right, A right, A^2 right, ...
//  upper    (k + 1, k)    A basis = basis H, with H turned into an upper triangle as it grows
//  turns    k             the rotations that do so
//  residual (k + 1)       right in the basis, turned along: its last entry is the residual's length
Vec solve_by_products(const std::function<Vec(const Vec&)>& product, const Vec& right,
                      double tolerance, int most) {
  const double length = right.norm();
  if (!(length > 0)) return Vec::Zero(right.size());
  Mat basis(right.size(), most + 1), upper = Mat::Zero(most + 1, most);
  std::vector<Eigen::JacobiRotation<double>> turns;
  Vec residual = Vec::Zero(most + 1);
  basis.col(0) = right / length;
  residual[0] = length;
  int k = 0;
  while (k < most && std::abs(residual[k]) > tolerance * length) {
    Vec next = product(basis.col(k));
    for (int j = 0; j <= k; ++j) {
      upper(j, k) = basis.col(j).dot(next);
      next -= upper(j, k) * basis.col(j);
    }
    const double left = next.norm();
    for (int j = 0; j < k; ++j) {
      Eigen::Vector2d pair = upper.col(k).segment<2>(j);
      pair.applyOnTheLeft(0, 1, turns[j].adjoint());
      upper.col(k).segment<2>(j) = pair;
    }
    Eigen::JacobiRotation<double> turn;
    turn.makeGivens(upper(k, k), left, &upper(k, k));
    turns.push_back(turn);
    residual.segment<2>(k).applyOnTheLeft(0, 1, turn.adjoint());
    ++k;
    if (!(left > 1e-14 * length)) break;
    basis.col(k) = next / left;
  }
  const Vec share =
      upper.topLeftCorner(k, k).triangularView<Eigen::Upper>().solve(residual.head(k));
  return basis.leftCols(k) * share;
}

}  // namespace bsvm
