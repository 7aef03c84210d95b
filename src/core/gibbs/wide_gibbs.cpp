// Gibbs sampling where priors select among many columns: with the rows' weights w and X the design,
//
//   A = X' diag(w) X + D,  h = X' (slope + w X b)   (slope: of the rows' quadratic at f = X b)
//
// and of A only the diagonal and the columns of coefficients that come in are formed, n P
// operations each. Effects of groups are not eliminated: each is drawn by a slice of its own.
#include "active_set.hpp"
#include "base/error.hpp"
#include "moving_chain.hpp"

namespace bsvm {
namespace {

// As of the rows' terms.
class DesignEquations : public Equations {
 public:
  DesignEquations(const Mat& design, const Vec& weight, Vec linear, Vec prior)
      : design_(design), weight_(weight), linear_(std::move(linear)), prior_(std::move(prior)) {}

  const Vec& linear() const override { return linear_; }
  Vec diagonal() const override {
    return design_.cwiseAbs2().transpose() * weight_ + prior_;
  }
  Mat columns(const std::vector<Index>& which) const override {
    Mat weighted(design_.rows(), static_cast<Index>(which.size()));
    for (Index k = 0; k < weighted.cols(); ++k)
      weighted.col(k) = weight_.cwiseProduct(design_.col(which[k]));
    Mat out = design_.transpose() * weighted;
    for (Index k = 0; k < out.cols(); ++k) out(which[k], k) += prior_[which[k]];
    return out;
  }

 private:
  const Mat& design_;
  const Vec& weight_;
  Vec linear_, prior_;
};

class WideChain : public MovingChain {
 public:
  WideChain(const Problem& problem, const GibbsOptions& options)
      : MovingChain(problem, 0, options), weight_(Arr::Ones(problem.n)) {
    if (problem.weight) weight_ = Eigen::Map<const Arr>(problem.weight, problem.n);
    terms_.resize(problem.n);
    disperse();
  }

 private:
  Mat draw_coefficients(Host& host) override {
    draw_scales();
    const Vec weight = terms_.weight, prior = side_.precision(state_);
    const Vec seen = rows_.design() * state_.mean();
    const Vec pull = terms_.slope.matrix() + weight.cwiseProduct(seen);
    const DesignEquations equations(rows_.design(), weight,
                                    rows_.design().transpose() * pull + side_.tilt(), prior);
    expected_ = draw_selected(side_, equations, state_, host);
    rows_.find(state_);
    const Mat group_moments = rows_.slide(state_, -1);
    expected_effects_ = rows_.effects();
    return group_moments;
  }

  void draw_scales() {
    rows_.find(state_);
    const Eigen::Map<const Arr> y(problem_.y, problem_.n);
    random_.draw(state_.key(), 0, problem_.n, rows_.likelihood().scales());
    rows_.likelihood().draw(y, rows_.f().array(), weight_, random_, terms_);
    if (!terms_.slope.allFinite() || !terms_.weight.allFinite()) refuse_sums();
  }

  // They just were.
  Mat slide() override { return rows_.group_moments(rows_.effects()); }

  Arr weight_;
  RowDraws random_;
  RowTerms terms_;
};

}  // namespace

std::unique_ptr<Chain> make_wide_chain(const Problem& problem, const GibbsOptions& options) {
  return std::unique_ptr<Chain>(new WideChain(problem, options));
}

}  // namespace bsvm
