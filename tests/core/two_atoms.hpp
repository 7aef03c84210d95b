#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/registry.hpp"
#include "likelihood/likelihood.hpp"

// Likelihoods with two atoms a row, which the package does not have.
namespace bsvm_test {

using namespace bsvm;

// The hinge as two halves of itself: all that is said of a row must stay as it is.
class Halves : public Likelihood {
 public:
  bool supports(Use use) const override { return hinge_->supports(use); }
  Atoms atoms(double y) const override { return {2, {{y, -y, 1}, {y, -y, 1}}}; }
  void terms(Use use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
             const Eigen::Ref<const Arr>& v, RowTerms& out) const override {
    hinge_->terms(use, y, m, v, out);
  }
  double over(const LineRows& rows, double s, double t) const override {
    return hinge_->over(rows, s, t);
  }

 private:
  std::unique_ptr<Likelihood> hinge_ = Registry<Likelihood>::make("hinge", Params());
};

// Insensitive to what is within `width` of y: -rate (|f - y| - width)_+, with its latent scales.
class Insensitive : public Likelihood {
 public:
  Insensitive(double rate, double width) : rate_(rate), width_(width) {}
  bool supports(Use use) const override {
    return use == Use::augmented || use == Use::expected || use == Use::point;
  }
  Atoms atoms(double y) const override {
    return {2, {{y + width_, 1, rate_}, {y - width_, -1, rate_}}};
  }
  double log_p(double y, double f) const {
    return -rate_ * std::max(0.0, std::abs(f - y) - width_);
  }
  void terms(Use use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
             const Eigen::Ref<const Arr>& v, RowTerms& out) const override {
    for (Index i = 0; i < y.size(); ++i) {
      out.value[i] = use == Use::point ? log_p(y[i], m[i]) : 0;
      out.slope[i] = out.weight[i] = out.curvature[i] = 0;
      const Atoms of = atoms(y[i]);
      for (int k = 0; use != Use::point && k < of.count; ++k) {
        const Atom& atom = of.atom[k];
        if (use == Use::expected) {
          add_expected(atom, m[i], v[i], i, out);
          continue;
        }
        const double off = m[i] - atom.place, root = std::sqrt(off * off + v[i]);
        const double w = 0.5 * atom.cost / root;
        out.value[i] -= 0.5 * atom.cost * (atom.sign * off + root);
        out.slope[i] -= w * off + 0.5 * atom.cost * atom.sign;
        out.weight[i] += w;
        out.curvature[i] += w * v[i] / (root * root);
      }
    }
  }

 private:
  static void add_expected(const Atom& atom, double m, double v, Index i, RowTerms& out) {
    const double sd = std::sqrt(v), u = atom.sign * (m - atom.place), x = u / sd;
    const double below = 0.5 * std::erfc(-x / std::sqrt(2.0)),
                 density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::acos(-1.0));
    out.value[i] -= atom.cost * (u * below + sd * density);
    out.slope[i] -= atom.cost * atom.sign * below;
    out.weight[i] += atom.cost * density / sd;
    out.curvature[i] = out.weight[i];
  }

  double rate_, width_;
};

// The same normalised over y, its rate exp(-theta_1) inferred, and with `both` its width too:
// exp(theta_1 - theta_2), so that theta_2 is the log odds of what lies beyond it.
class InsensitiveFamily : public Likelihood {
 public:
  explicit InsensitiveFamily(double width, bool both = false) : width_(width), both_(both) {}
  bool supports(Use use) const override { return use == Use::augmented || use == Use::expected; }
  Index free_size() const override { return both_ ? 2 : 1; }
  std::unique_ptr<Likelihood> with(ConstVecRef theta) const override {
    return std::make_unique<Member>(std::exp(-theta[0]),
                                    both_ ? std::exp(theta[0] - theta[1]) : width_);
  }
  void terms(Use, const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
             const Eigen::Ref<const Arr>&, RowTerms&) const override {
    throw std::logic_error("A family was asked.");
  }

 private:
  class Member : public Insensitive {
   public:
    Member(double rate, double width)
        : Insensitive(rate, width), log_c_(std::log(rate / (2 * (1 + rate * width)))) {}
    void terms(Use use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
               const Eigen::Ref<const Arr>& v, RowTerms& out) const override {
      Insensitive::terms(use, y, m, v, out);
      out.value += log_c_;
    }
    double over(const LineRows& rows, double s, double t) const override {
      double sum = 0;
      for (Index i = 0; i < rows.r; ++i) {
        const double f = rows.f[i] + (rows.a ? s * rows.a[i] : 0) + t * rows.b[i];
        sum += (rows.weight ? rows.weight[i] : 1) * (log_p(rows.y[i], f) + log_c_);
      }
      return sum;
    }

   private:
    double log_c_;
  };
  double width_;
  bool both_;
};

}  // namespace bsvm_test
