#include "product.hpp"

#include "base/error.hpp"

namespace bsvm {

namespace {

// visit(k, weight times all but the k-th), of factors' values; of one factor, weight as it is.
template <class T, class Visit>
void each_rest(const std::vector<T>& values, const T& weight, Visit visit) {
  const Index last = static_cast<Index>(values.size()) - 1;
  if (last < 0) return visit(0, weight);
  // after[k]: weight times those after k.
  std::vector<T> after(values.size());
  after[last] = weight;
  for (Index k = last; k > 0; --k) after[k - 1] = after[k].cwiseProduct(values[k]);
  T before = values[0];
  visit(0, after[0]);
  for (Index k = 1; k <= last; ++k) {
    visit(k, T(after[k].cwiseProduct(before)));
    if (k < last) before = before.cwiseProduct(values[k]);
  }
}

}  // namespace

Product::Product(std::vector<std::unique_ptr<Kernel>> factors)
    : factors_(std::move(factors)), starts_{0} {
  if (factors_.empty()) throw InvalidInput("kernel", "A product needs a kernel.");
  for (const auto& factor : factors_) {
    if (factor->variables() != variables())
      throw InvalidInput("kernel", "Factors of a kernel must be of the same variables.");
    starts_.push_back(starts_.back() + factor->size());
  }
}

void Product::values(const Mat& x, const Mat& v, ConstVecRef theta, Mat& out) const {
  factors_[0]->values(x, v, own(theta, 0), out);
  Mat more;
  for (Index k = 1; k < factors(); ++k) {
    factors_[k]->values(x, v, own(theta, k), more);
    out.array() *= more.array();
  }
}

Vec Product::diagonal(const Mat& x, ConstVecRef theta) const {
  Vec out = factors_[0]->diagonal(x, own(theta, 0));
  for (Index k = 1; k < factors(); ++k)
    out.array() *= factors_[k]->diagonal(x, own(theta, k)).array();
  return out;
}

Vec Product::pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const {
  std::vector<Mat> values(factors() > 1 ? factors() : 0);
  for (Index k = 0; k < static_cast<Index>(values.size()); ++k)
    factors_[k]->values(x, v, own(theta, k), values[k]);
  Vec out(size());
  each_rest(values, weight, [&](Index k, const Mat& rest) {
    out.segment(starts_[k], factors_[k]->size()) = factors_[k]->pull(x, v, own(theta, k), rest);
  });
  return out;
}

Vec Product::diagonal_pull(const Mat& x, ConstVecRef theta, const Vec& weight) const {
  std::vector<Vec> values;
  for (Index k = 0; k < factors() && factors() > 1; ++k)
    values.push_back(factors_[k]->diagonal(x, own(theta, k)));
  Vec out(size());
  each_rest(values, weight, [&](Index k, const Vec& rest) {
    out.segment(starts_[k], factors_[k]->size()) =
        factors_[k]->diagonal_pull(x, own(theta, k), rest);
  });
  return out;
}

Mat Product::input_pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const {
  std::vector<Mat> values(factors() > 1 ? factors() : 0);
  for (Index k = 0; k < static_cast<Index>(values.size()); ++k)
    factors_[k]->values(x, v, own(theta, k), values[k]);
  Mat out = Mat::Zero(variables(), v.cols());
  each_rest(values, weight, [&](Index k, const Mat& rest) {
    out += factors_[k]->input_pull(x, v, own(theta, k), rest);
  });
  return out;
}

}  // namespace bsvm
