// A Gaussian-process term as a block: for each kernel the features of kernel/points.hpp, at fixed
// inducing points,
//
//   a(x) = L^{-1} k(v, x),   L L' = k(v, v),
//
// with the kernel's numbers theta = start + those numbers of the block that are inferred and move them. One may
// move several: a common factor of all length scales. L is kept for some values of theta. Without
// free numbers the features are known, less their means, and made of the rows wherever these are read,
// which takes less memory than to keep them.
#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>

#include "block/block.hpp"
#include "kernel/points.hpp"
#include "kernel/product.hpp"
#include "model/state.hpp"

namespace bsvm {
namespace {

constexpr double kMostBytes = 2e8;  // of all factors that are kept
constexpr double kFewestKept = 4;   // present values, and those of a step

// A summand of the term's kernel; `points` (d, m), theta's start, and which free number moves each
// (-1: none).
struct KernelPart {
  std::unique_ptr<Kernel> kernel;
  Mat points;
  Vec start;
  std::vector<Index> moved_by;

  Index columns() const { return points.cols(); }
  Vec theta(ConstVecRef free) const {
    Vec out = start;
    for (Index k = 0; k < out.size(); ++k)
      if (moved_by[k] >= 0) out[k] += free[moved_by[k]];
    return out;
  }
};

std::unique_ptr<Kernel> product_of(const std::vector<Params>& factors) {
  std::vector<std::unique_ptr<Kernel>> made;
  for (const Params& factor : factors)
    made.push_back(Registry<Kernel>::make(factor.component(), factor));
  if (made.size() == 1) return std::move(made[0]);
  return std::make_unique<Product>(std::move(made));
}

KernelPart to_part(const Params& params, Index free_size) {
  KernelPart out;
  out.kernel = product_of(params.parts());
  out.points = params.array("points").transpose();
  out.start = params.numbers("start");
  out.moved_by = params.indices("moved_by");
  const Index size = out.kernel->size();
  const bool known = std::all_of(out.moved_by.begin(), out.moved_by.end(),
                                 [&](Index k) { return k < free_size; });
  if (out.points.rows() != out.kernel->variables() || out.points.cols() == 0 ||
      out.start.size() != size || static_cast<Index>(out.moved_by.size()) != size || !known)
    throw InvalidInput("formula", "The numbers of a Gaussian-process term don't fit its kernel.");
  return out;
}

// The features of all parts at one value of the free numbers, made by who asks first.
class MadeFeatures {
 public:
  explicit MadeFeatures(Vec free) : free_(std::move(free)) {}

  const Vec& free() const { return free_; }
  const std::vector<Features>& at(const std::vector<KernelPart>& parts) {
    std::call_once(once_, [&] {
      Host nobody;
      std::vector<Features> made;
      for (const KernelPart& part : parts)
        made.emplace_back(*part.kernel, part.points, part.theta(free_), nobody);
      features_ = std::move(made);
    });
    return features_;
  }

 private:
  Vec free_;
  std::once_flag once_;
  std::vector<Features> features_;
};

class GaussianProcess : public Block {
 public:
  explicit GaussianProcess(const Params& params)
      : free_size_(static_cast<Index>(params.not_negative("free"))),
        multiplied_(params.flag("multiplied")) {
    for (const Params& part : params.parts()) parts_.push_back(to_part(part, free_size_));
    if (parts_.empty()) throw InvalidInput("formula", "A Gaussian-process term needs a kernel.");
    for (const KernelPart& part : parts_) columns_ += part.columns();
    most_kept_ = most_kept();
    unit_ = Vec::Ones(columns_);
    center_ = params.has("center") ? params.numbers("center") : Vec::Zero(columns_);
    if (center_.size() != columns_ || (varies() && !center_.isZero(0)))
      throw InvalidInput("formula", "Only columns that are known can be centred.");
  }

  // x (n, d), and with `multiplied` one more column: what the function is multiplied by.
  void take(const double* x, Index n, Index variables) override {
    const Index d = parts_[0].kernel->variables();
    if (variables != d + (multiplied_ ? 1 : 0))
      throw InvalidInput("formula", "A Gaussian-process term has other variables than its kernel.");
    inputs_ = {x, n, d};
    if (!multiplied_) return;
    multiplier_ = x + n * d;
    int exponent = 0;
    std::frexp(Eigen::Map<const Vec>(multiplier_, n).cwiseAbs().maxCoeff(), &exponent);
    unit_.setConstant(std::ldexp(1.0, std::min(1000, -exponent)));
  }

  Index columns() const override { return columns_; }
  bool varies() const override { return free_size_ > 0; }
  Index free_size() const override { return free_size_; }
  void find_parameters(Index first) override { first_ = first; }
  const Vec& unit() const override { return unit_; }

  void fill(const int* rows, Index r, const State& state,
            Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const override {
    Mat x(inputs_.columns, r);
    for (Index j = 0; j < x.rows(); ++j)
      for (Index i = 0; i < r; ++i) x(j, i) = inputs_.data[rows[i] + j * inputs_.rows];
    const auto made = made_at(free_of(state));
    const std::vector<Features>& features = made->at(parts_);
    Index first = 0;
    for (const Features& own : features) {
      own.fill(x, out.middleRows(first, own.columns()));
      first += own.columns();
    }
    if (multiplied_)
      for (Index i = 0; i < r; ++i) out.col(i) *= multiplier_[rows[i]];
    if (!varies()) out.colwise() -= center_;
    if (multiplied_) out *= unit_[0];
  }

 private:
  Vec free_of(const State& state) const {
    return varies() ? Vec(state.parameters().segment(first_, free_size_)) : Vec();
  }

  // A pass asks for values on both sides of the present ones, in one number or two (rows/
  // parameter_terms), chunk after chunk, and there may be a few chains: so many are of use, if
  // there is room. Samplers never come back to a value.
  size_t most_kept() const {
    const double useful =
        static_cast<double>(2 * (1 + 2 * free_size_ + free_size_ * (free_size_ - 1)) + 8);
    double bytes = 0;
    for (const KernelPart& part : parts_)
      bytes += sizeof(double) * std::pow(static_cast<double>(part.columns()), 2);
    return static_cast<size_t>(std::min(useful, std::max(kFewestKept, kMostBytes / bytes)));
  }

  // Those kept, the last asked for first.
  std::shared_ptr<MadeFeatures> made_at(ConstVecRef free) const {
    const std::lock_guard<std::mutex> lock(guard_);
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const auto& made) { return made->free() == free; });
    if (known != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, known);
    } else {
      kept_.push_front(std::make_shared<MadeFeatures>(free));
      if (kept_.size() > most_kept_) kept_.pop_back();
    }
    return kept_.front();
  }

  std::vector<KernelPart> parts_;
  Index columns_ = 0, free_size_, first_ = 0;
  bool multiplied_;
  struct {
    const double* data;
    Index rows, columns;
  } inputs_ = {nullptr, 0, 0};          // (n, d), the caller's
  const double* multiplier_ = nullptr;  // (n), or none
  Vec unit_, center_;
  size_t most_kept_;
  mutable std::mutex guard_;
  mutable std::list<std::shared_ptr<MadeFeatures>> kept_;
};

const Register<Block, GaussianProcess> gp_entry("gp");

}  // namespace
}  // namespace bsvm
