// Loadings by the rows' own directions (factors.md, section 7): with B = (mu, A) (p, 1 + K), whose
// rows have independent normal priors that are the same for all variables, and x = U D V',
//
//   V'B given scores and the columns U D     as any variables' loadings given theirs,
//   B'(I - V V')B = T ~ Wishart(p - r, P^{-1}),   P = psi W1'W1 + diag(prior precisions),
//
// since x is zero in the p - r other directions. B'B, x B and the residuals' squares, all that a
// sweep needs of B, follow from V'B and T. With T = F F' the rest of B is E F' for an orthonormal
// frame E (p - r, 1 + K) of these directions, uniform and independent of all else, which is drawn
// where B itself is asked for. Of A u alone, u (K), the first vector of a frame is enough: with s =
// F'(0, u),
//
//   (I - V V')A u = |s| e,   E = (e, ...) H,   H the reflection that takes the first axis to s/|s|.
//
//   this file   shape           |  this file   shape
//   turned_     V'B (r, 1 + K)  |  left_       F (1 + K, 1 + K)
//   moments_    B'B             |  u0          (0, u)
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "loadings.hpp"

namespace bsvm {

namespace {

// C of C C' ~ Wishart(df, I) (Bartlett 1933), lower triangular.
Mat wishart_root(double df, Index q, Draws& random) {
  Mat out = Mat::Zero(q, q);
  for (Index j = 0; j < q; ++j) {
    out(j, j) = std::sqrt(2 * random.gamma(0.5 * (df - static_cast<double>(j))));
    for (Index i = j + 1; i < q; ++i) out(i, j) = random.normal();
  }
  return out;
}

// The symmetric orthogonal matrix that takes the first axis to the direction of s.
Mat reflection(const Vec& s) {
  const Index q = s.size();
  Mat out = Mat::Identity(q, q);
  const double length = s.norm();
  if (!(length > 0)) return out;
  Vec v = -s / length;
  v[0] += 1;
  const double square = v.squaredNorm();
  if (square > 0) out -= 2 / square * v * v.transpose();
  return out;
}

class TurnedLoadings : public Loadings {
 public:
  TurnedLoadings(const SharedFactors& shared, Draws& random)
      : rows_(*shared.turned), model_(shared.model), variances_(model_, random),
        psi_(Vec::Constant(1, std::exp(0.3 * random.normal()))),
        turned_(Mat::Zero(rows_.directions(), size())), left_(Mat::Identity(size(), size())) {
    find_sums();
  }

  void draw(const Mat& w, const DrawKey& now, int, Host& host) override {
    if (host.interrupted()) throw Interrupted();
    Mat design(model_.n(), size());
    design << Vec::Ones(model_.n()), w;
    const Mat gram = design.transpose() * design;
    Mat precision = psi_[0] * gram;
    precision(0, 0) += 1 / model_.mean_variance;
    precision.diagonal().tail(model_.factors) += variances_.precisions();
    const Factor factor(precision);
    if (!factor.positive()) refuse_numbers();
    const Mat product = design.transpose() * rows_.columns;  // W1'U D (1 + K, r)
    Mat b = psi_[0] * product;
    solve_lower(factor.lower(), b);
    for (Index i = 0; i < b.cols(); ++i) {
      Draws random(now, Purpose::design, static_cast<std::uint64_t>(i));
      for (Index j = 0; j < b.rows(); ++j) b(j, i) += random.normal();
    }
    solve_transposed(factor.lower(), b);
    turned_ = b.transpose();
    Draws random(now, Purpose::design, static_cast<std::uint64_t>(b.cols()));
    left_ = wishart_root(static_cast<double>(model_.p() - rows_.directions()), size(), random);
    solve_transposed(factor.lower(), left_);
    find_sums();
    const double square = rows_.square - 2 * product.cwiseProduct(b).sum() +
                          moments_.cwiseProduct(gram).sum();
    Draws noise(now, Purpose::hyper, std::uint64_t{2} << 32);
    psi_[0] = draw_precision(model_.noise, static_cast<double>(model_.n() * model_.p()), square,
                             noise);
    if (now.sweep > 0)
      variances_.draw(moments_.diagonal().tail(model_.factors), static_cast<double>(model_.p()),
                      now);
    find_sums();
  }

  const ScoreSums& sums() const override { return sums_; }
  const Mat& moments() const override { return moments_; }
  void translate(const Vec& delta) override {
    turned_.col(0) -= turned_.rightCols(model_.factors) * delta;
    left_.row(0) -= delta.transpose() * left_.bottomRows(model_.factors);
    find_sums();
  }

  NamedNumbers drawn() const override { return {{"psi", psi_[0]}}; }
  Vec variances() const override { return variances_.variances(); }

  // V'B u0, and what is left over along one direction z without its part in V.
  Implied implied(const Vec& u, const DrawKey& now) const override {
    Implied out;
    const Vec along = turned_.rightCols(model_.factors) * u, z = normals(0, now);
    const Vec inside = rows_.back.transpose() * (model_.x * z);  // V'z
    const double outside = std::sqrt(std::max(z.squaredNorm() - inside.squaredNorm(), 1e-300));
    const double by = Vec(left_.bottomRows(model_.factors).transpose() * u).norm() / outside;
    out.coefficients = psi_[0] * (model_.x.transpose() * (rows_.back * (along - by * inside)) +
                                  by * z);
    out.offset = -psi_[0] * moments_.row(0).tail(model_.factors).dot(u);
    return out;
  }

  Vec whole(const Vec& u, const DrawKey& now) const override {
    const Index p = model_.p();
    Mat z(p, size());
    for (Index k = 0; k < size(); ++k) z.col(k) = normals(k, now);
    z -= model_.x.transpose() * (rows_.back * (rows_.back.transpose() * (model_.x * z)));
    const Mat frame = divided_transposed(z, positive_factor(z.transpose() * z).lower());
    const Vec s = left_.bottomRows(model_.factors).transpose() * u;
    const Mat b = model_.x.transpose() * (rows_.back * turned_) +
                  frame * (reflection(s) * left_.transpose());
    Vec out(p * size() + 1);
    out << Eigen::Map<const Vec>(b.data(), b.size()), psi_[0];
    return out;
  }

  void visit(Archive& archive) override {
    archive.part(psi_);
    archive.part(Eigen::Map<Vec>(turned_.data(), turned_.size()));
    archive.part(Eigen::Map<Vec>(left_.data(), left_.size()));
    variances_.visit(archive);
    if (archive.reads()) find_sums();
  }

 private:
  Index size() const { return 1 + model_.factors; }

  Vec normals(Index column, const DrawKey& now) const {
    Draws random(now, Purpose::unknown, static_cast<std::uint64_t>(column));
    Vec out(model_.p());
    for (Index i = 0; i < out.size(); ++i) out[i] = random.normal();
    return out;
  }

  void find_sums() {
    const Index k = model_.factors;
    moments_ = turned_.transpose() * turned_ + left_ * left_.transpose();
    sums_.precision = psi_[0] * moments_.bottomRightCorner(k, k) + Mat::Identity(k, k);
    sums_.linear = psi_[0] * (rows_.columns * turned_.rightCols(k));
    sums_.linear.rowwise() -= psi_[0] * moments_.row(0).tail(k);
  }

  const TurnedRows& rows_;
  const FactorModel& model_;
  FactorVariances variances_;
  Vec psi_;  // (1)
  Mat turned_, left_, moments_;
  ScoreSums sums_;
};

}  // namespace

std::unique_ptr<Loadings> make_turned_loadings(const SharedFactors& shared, Draws& random) {
  return std::make_unique<TurnedLoadings>(shared, random);
}

}  // namespace bsvm
