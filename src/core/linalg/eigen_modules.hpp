#pragma once
#pragma GCC system_header  // as base/eigen.hpp
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/Jacobi>
#include <Eigen/LU>
#include <Eigen/QR>
