#pragma once
#include <memory>
#include <vector>

#include "shared.hpp"
#include "variational_scores.hpp"

namespace bsvm {

// Of the linear predictors of some rows, under q.
struct PredictorMoments {
  Arr mean, variance;
};

// q(b) = N(mean, covariance) of all coefficients b = (alpha, beta), q of their hyper-parameters,
// and the free numbers theta of the likelihood, which are points that maximise the bound.
//
// Under q(w_n) q(b) the linear predictor f_n = offset_n + c_n'b, c_n = (t_n, w_n), has the moments
//
//   E f = offset + E c'E b,   Var f = E c' Cov(b) E c + tr(V_n E beta beta'),
//
// and the likelihood's row function l(E f, Var f) is its share of the bound. With Use::augmented
// that is a bound whatever the distribution of f. With Use::expected it is E log p(y | f) of a
// normal f, while f is a normal number plus a product of two, (w - m)'(beta - E beta): an
// approximation, exact where scores or coefficients are known.
//
// If the classifier is a Gaussian process, b = (alpha, b_1, ..., b_M), a priori N(0, I), are
// coefficients of features of the scores, and there is a variance of f that features leave over.
class ClassifierPosterior {
 public:
  ClassifierPosterior(const SharedFactors& shared, Use use);

  const Vec& mean() const { return mean_; }              // (d + K)
  const Mat& covariance() const { return covariance_; }  // (d + K, d + K)
  Mat square() const { return covariance_ + mean_ * mean_.transpose(); }
  const Vec& theta() const { return theta_; }
  const std::vector<Vec>& hyper() const { return hyper_; }
  const Likelihood& likelihood() const { return own_ ? *own_ : *shared_.model.likelihood; }
  Vec prior_precision() const;

  // Of a process: features (N, M) of the scores, and the variance left over (N).
  void set_features(Mat features, Vec left_over);
  // (M, labelled) the derivative of the rows' share in their features, |feature|^2 + left-over as
  // it is.
  Mat feature_slopes(const ScorePosterior& w) const;
  double rows_value(const ScorePosterior& w) const { return rows_value(links(w)); }

  // l and its derivatives for rows with responses y.
  void terms(const Arr& y, const PredictorMoments& f, RowTerms& out) const;

  // Of the labelled rows.
  PredictorMoments links(const ScorePosterior& w) const {
    return links(design(w), w, mean_, covariance_);
  }

  // q(b) by itself, to come back to.
  struct Coefficients {
    Vec mean;
    Mat covariance;
    double logdet;
  };
  Coefficients coefficients() const { return {mean_, covariance_, logdet_}; }
  void set(const Coefficients& to) {
    mean_ = to.mean;
    covariance_ = to.covariance;
    logdet_ = to.logdet;
  }
  void update_coefficients(const ScorePosterior& w);

  // Raises the bound: coefficients by a step, then hyper-parameters and theta.
  void update(const ScorePosterior& w);
  double value(const ScorePosterior& w) const;

  // What parts' priors have of the bound if b had these second moments and hyper-parameters their
  // best q; and E 1/variance of each coefficient then.
  double prior_value(const Mat& square, Vec& precision) const;
  // As scores have it that become u^{-1}(w + d): beta becomes u'beta, the intercept less d'beta.
  void transform(const Mat& u, const Vec& d);

 private:
  struct Labels {
    Arr y, weight, offset;
  };
  struct Step;
  Mat design(const ScorePosterior& w) const;
  PredictorMoments links(const Mat& design, const ScorePosterior& w, const Vec& mean,
                    const Mat& covariance) const;
  double rows_value(const PredictorMoments& f) const;
  void update_hyper();
  void update_theta(const PredictorMoments& f);
  void set_theta(const Vec& theta);
  double theta_value(const Vec& theta) const;
  Moments moments_of(size_t part, const Mat& square) const;
  bool linear() const { return shared_.model.linear(); }
  // How many coefficients, the last ones, are of scores that have a variance.
  Index uncertain() const { return linear() ? shared_.model.factors : 0; }

  const SharedFactors& shared_;
  Use use_;
  Labels labels_;
  Mat features_;
  Vec left_over_;
  Vec mean_;
  Mat covariance_;
  double logdet_ = 0;       // of the covariance
  std::vector<Vec> hyper_;  // of each part
  Vec theta_;
  std::unique_ptr<Likelihood> own_;  // at theta, if there are free numbers
};

}  // namespace bsvm
