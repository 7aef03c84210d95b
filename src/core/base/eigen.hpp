#pragma once
#pragma GCC system_header  // of these headers' thousands of warnings none is about our code
#include <Eigen/Core>
