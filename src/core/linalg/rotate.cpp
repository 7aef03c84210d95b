#include "rotate.hpp"

#include "eigen_modules.hpp"

namespace bsvm {

Rotation rotate(ConstMatRef x, ConstVecRef center, ConstVecRef scale) {
  const Index r = std::min(x.rows(), x.cols());
  Mat columns = x.transpose();  // (m, n), scaled in place
  columns.colwise() -= center;
  columns.array().colwise() /= scale.array();
  const double largest = columns.size() > 0 ? columns.cwiseAbs().maxCoeff() : 0;
  const double unit = largest > 0 ? std::exp2(std::ilogb(largest)) : 1;  // exact
  const Eigen::HouseholderQR<Eigen::Ref<Mat>> qr(columns /= unit);
  Rotation out;
  out.basis = qr.householderQ() * Mat::Identity(x.cols(), r);
  const Mat upper = qr.matrixQR().topRows(r).triangularView<Eigen::Upper>();
  out.features = unit * upper.transpose();
  return out;
}

}  // namespace bsvm
