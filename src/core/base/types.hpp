#pragma once
#include "eigen.hpp"

namespace bsvm {

using Index = Eigen::Index;
using Vec = Eigen::VectorXd;
using Mat = Eigen::MatrixXd;
using Arr = Eigen::ArrayXd;
using VecRef = Eigen::Ref<Vec>;
using ConstVecRef = const Eigen::Ref<const Vec>&;
using MatRef = Eigen::Ref<Mat>;
using ConstMatRef = const Eigen::Ref<const Mat>&;

}  // namespace bsvm
