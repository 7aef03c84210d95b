#include "fit.hpp"

#include <cmath>

namespace bsvm {

namespace {

// Residual squares that are a smaller share of the responses' are found from the residuals.
constexpr double kCancelled = 1e-6;

}  // namespace

Fit::Fit(const SharedResponses& shared) : shared_(shared), y_(shared.y) {
  for (const Index i : shared_.incomplete)
    for (Index j = 0; j < q(); ++j)
      if (std::isnan(y_(i, j))) y_(i, j) = 0;
  small_ = Mat::Zero(shared_.s.cols(), q());
  for (const Spectrum& own : shared_.spectra) turned_.push_back(Mat::Zero(own.e.size(), q()));
  for (const LevelPart& factor : shared_.model.factors)
    u_.push_back(Mat::Zero(factor.effects() * q(), factor.levels));
  if (shared_.sums_alone) return;
  small_part_ = Mat::Zero(y_.rows(), q());
  parts_.assign(turned_.size() + u_.size(), small_part_);
}

void Fit::set_small(Mat coefficients) {
  small_ = std::move(coefficients);
  if (!shared_.sums_alone) small_part_.noalias() = shared_.s * small_;
}

void Fit::set_turned(size_t spectrum, Mat turned) {
  turned_[spectrum] = std::move(turned);
  if (!shared_.sums_alone) parts_[spectrum] = spectrum_fit(spectrum);
}

void Fit::set_effects(size_t factor, Index level, ConstVecRef u) { u_[factor].col(level) = u; }

void Fit::effects_are_set(size_t factor) {
  if (!shared_.sums_alone) parts_[turned_.size() + factor] = factor_fit(factor);
}

Mat Fit::coefficients() const {
  Mat out(shared_.model.p(), q());
  for (Index a = 0; a < small_.rows(); ++a)
    out.row(shared_.small[static_cast<size_t>(a)]) = small_.row(a);
  for (size_t k = 0; k < turned_.size(); ++k) {
    const Spectrum& own = shared_.spectra[k];
    const Mat b = own.v * turned_[k];
    for (Index m = 0; m < b.rows(); ++m) out.row(own.columns[static_cast<size_t>(m)]) = b.row(m);
  }
  return out;
}

Vec Fit::all_effects() const {
  Index size = 0;
  for (const Mat& u : u_) size += u.size();
  Vec out(size);
  for (const Mat& u : u_) {
    out.segment(out.size() - size, u.size()) = Eigen::Map<const Vec>(u.data(), u.size());
    size -= u.size();
  }
  return out;
}

Eigen::Map<const Mat> Fit::level(size_t factor, size_t level) const {
  return {u_[factor].col(static_cast<Index>(level)).data(),
          shared_.model.factors[factor].effects(), q()};
}

// Of sums alone: the sum over levels of A'u, A (d, rows); zero without a factor.
Mat Fit::level_sums(const std::vector<Mat>& products, Index rows) const {
  Mat out = Mat::Zero(rows, q());
  for (size_t l = 0; l < products.size(); ++l)
    out.noalias() += products[l].transpose() * level(0, l);
  return out;
}
Mat Fit::small_level_sums() const {
  return u_.empty() ? Mat(Mat::Zero(small_.rows(), q())) : level_sums(shared_.zs[0], small_.rows());
}

Mat Fit::spectrum_fit(size_t spectrum) const {
  return shared_.spectra[spectrum].h * turned_[spectrum];
}

Mat Fit::factor_fit(size_t f) const {
  const LevelPart& factor = shared_.model.factors[f];
  const Index d = factor.effects();
  Mat out = Mat::Zero(y_.rows(), q());
  for (Index j = 0; j < q(); ++j)
    for (Index a = 0; a < d; ++a)
      for (Index i = 0; i < out.rows(); ++i)
        out(i, j) += shared_.z[f](i, a) * u_[f](a + d * j, factor.code[static_cast<size_t>(i)]);
  return out;
}

// The responses less all parts of the fit but the small columns and `but`.
Mat Fit::less(size_t but) const {
  Mat out = y_;
  for (size_t k = 0; k < parts_.size(); ++k)
    if (k != but) out -= parts_[k];
  return out;
}

Fit::BlockSums Fit::beside_spectrum(size_t spectrum) const {
  if (!shared_.sums_alone) {
    const Mat r = less(spectrum);
    return {shared_.spectra[spectrum].h.transpose() * r, shared_.s.transpose() * r,
            r.transpose() * r};
  }
  BlockSums out{shared_.hy, shared_.sy, shared_.yy};
  if (u_.empty()) return out;
  out.hr -= level_sums(shared_.zh, out.hr.rows());
  out.sr -= small_level_sums();
  for (size_t l = 0; l < shared_.zy.size(); ++l) {
    const Mat u = level(0, l), zu = shared_.zy[l].transpose() * u;
    out.rr += u.transpose() * shared_.zz[0][l] * u - zu - zu.transpose();
  }
  return out;
}

Fit::LevelSums Fit::beside_factor(size_t factor) const {
  if (!shared_.sums_alone) {
    const Mat r = less(turned_.size() + factor);
    return {shared_.level_products(factor, r), shared_.s.transpose() * r};
  }
  LevelSums out{shared_.zy, shared_.sy};
  if (turned_.empty()) return out;
  for (size_t l = 0; l < out.zr.size(); ++l) out.zr[l].noalias() -= shared_.zh[l] * turned_[0];
  out.sr.noalias() -= shared_.spectra[0].hs.transpose() * turned_[0];
  return out;
}

Mat Fit::beside_small() const {
  if (!shared_.sums_alone) return shared_.s.transpose() * less(parts_.size());
  Mat out = shared_.sy;
  if (!turned_.empty()) out.noalias() -= shared_.spectra[0].hs.transpose() * turned_[0];
  return out - small_level_sums();
}

Mat Fit::residuals() const {
  if (!shared_.sums_alone) return less(parts_.size()) - small_part_;
  Mat out = y_ - shared_.s * small_;
  for (size_t k = 0; k < turned_.size(); ++k) out -= spectrum_fit(k);
  for (size_t f = 0; f < u_.size(); ++f) out -= factor_fit(f);
  return out;
}

Mat Fit::residual_squares() const {
  if (shared_.sums_alone) {
    // (Y - S B - H W)'(Y - S B - H W), and then less the factor's effects
    const Mat sb = shared_.sy.transpose() * small_;
    Mat out = shared_.yy - sb - sb.transpose() + small_.transpose() * shared_.ss * small_;
    if (!turned_.empty()) {
      const Spectrum& own = shared_.spectra[0];
      const Mat& w = turned_[0];
      const Mat hw = (shared_.hy - own.hs * small_).transpose() * w;
      out += w.transpose() * own.e.asDiagonal() * w - hw - hw.transpose();
    }
    for (size_t l = 0; l < shared_.zy.size(); ++l) {
      Mat rest = shared_.zy[l] - shared_.zs[0][l] * small_;
      if (!turned_.empty()) rest.noalias() -= shared_.zh[l] * turned_[0];
      const Mat u = level(0, l), zu = rest.transpose() * u;
      out += u.transpose() * shared_.zz[0][l] * u - zu - zu.transpose();
    }
    if ((out.diagonal().array() > kCancelled * shared_.yy.diagonal().array()).all()) return out;
  }
  const Mat e = residuals();
  return e.transpose() * e;
}

Vec Fit::missing() const {
  std::vector<double> out;
  for (const Index i : shared_.incomplete)
    for (Index j = 0; j < q(); ++j)
      if (std::isnan(shared_.y(i, j))) out.push_back(y_(i, j));
  return Eigen::Map<const Vec>(out.data(), static_cast<Index>(out.size()));
}

void Fit::visit(Archive& archive, bool latent) {
  archive.part(Eigen::Map<Vec>(small_.data(), small_.size()));
  for (Mat& w : turned_) archive.part(Eigen::Map<Vec>(w.data(), w.size()));
  for (Mat& u : u_) archive.part(Eigen::Map<Vec>(u.data(), u.size()));
  if (latent) {
    archive.part(Eigen::Map<Vec>(y_.data(), y_.size()));
  } else {
    archive.part(missing(), [&](ConstVecRef saved) {
      Index at = 0;
      for (const Index i : shared_.incomplete)
        for (Index j = 0; j < q(); ++j)
          if (std::isnan(shared_.y(i, j))) y_(i, j) = saved[at++];
    });
  }
  if (archive.reads() && !shared_.sums_alone) find_parts();
}

void Fit::find_parts() {
  small_part_.noalias() = shared_.s * small_;
  for (size_t k = 0; k < turned_.size(); ++k) parts_[k] = spectrum_fit(k);
  for (size_t f = 0; f < u_.size(); ++f) parts_[turned_.size() + f] = factor_fit(f);
}

}  // namespace bsvm
