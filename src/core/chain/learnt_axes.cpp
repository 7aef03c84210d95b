#include "learnt_axes.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kFirstDraws = 20;      // until axes are found, then of twice as many each time
constexpr double kFirstInterval = 2.5;  // along an axis, in standard deviations

}  // namespace

LearntAxes::LearntAxes(Index size, Index others)
    : widths_(Vec::Ones(size + others)), axes_(Mat::Identity(size, size)), seen_(Vec::Zero(2)),
      mean_(Vec::Zero(size)), square_(Mat::Zero(size, size)) {}

// A width of three mean moves is about right for a bell.
void LearntAxes::moved(Index k, double by) {
  widths_[k] = 0.95 * widths_[k] + 0.05 * std::max(3 * std::abs(by), 1e-6);
}

// From the draws since axes were found last, since the first of a chain may be far away.
void LearntAxes::learn(ConstVecRef numbers) {
  if (size() < 2) return;
  ++seen_[0];
  ++seen_[1];
  const Vec away = numbers - mean_;
  mean_ += away / seen_[1];
  square_ += away * (numbers - mean_).transpose();
  const double turns = seen_[0] / kFirstDraws;
  if (turns < 1 || turns != std::exp2(std::floor(std::log2(turns)))) return;
  const Factor root(square_ / seen_[1]);
  if (root.positive()) {
    axes_ = root.lower();
    widths_.head(size()).setConstant(kFirstInterval);
  }
  seen_[1] = 0;
  mean_.setZero();
  square_.setZero();
}

Vec LearntAxes::learnt() const {
  if (size() < 2) return widths_;
  Vec out(widths_.size() + size() * (1 + 2 * size()) + 2);
  out << widths_, Eigen::Map<const Vec>(axes_.data(), axes_.size()), seen_, mean_,
      Eigen::Map<const Vec>(square_.data(), square_.size());
  return out;
}

void LearntAxes::restore(ConstVecRef learnt) {
  const Index k = size(), w = widths_.size();
  widths_ = learnt.head(w);
  if (k < 2) return;
  Eigen::Map<Vec>(axes_.data(), k * k) = learnt.segment(w, k * k);
  seen_ = learnt.segment(w + k * k, 2);
  mean_ = learnt.segment(w + k * k + 2, k);
  Eigen::Map<Vec>(square_.data(), k * k) = learnt.tail(k * k);
}

}  // namespace bsvm
