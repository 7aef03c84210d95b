#pragma once
#pragma GCC system_header  // as core/base/eigen.hpp; RcppExports.cpp includes it first
#include <RcppEigen.h>
