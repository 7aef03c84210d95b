#pragma once
#include <memory>
#include <vector>

#include "base/host.hpp"
#include "chain/archive.hpp"
#include "scores.hpp"
#include "shared.hpp"

namespace bsvm {

// The other side of a chain: coefficients b = (alpha, beta), their hyper-parameters, and the free
// numbers of the likelihood. Given x alone, scores integrated out,
//
//   f_n ~ N(offset_n + t_n'alpha + m_n'beta, beta'S_n beta),
//
// so that b is drawn by slices of sum_n log E p(y_n | f_n) + log p(b), with no score in between.
class Classifier {
 public:
  // `random`: for where it starts.
  Classifier(const SharedFactors& shared, Draws& random);

  Vec alpha() const { return b_.head(shared_.model.d()); }
  Vec beta() const { return b_.tail(shared_.model.factors); }
  const Vec& coefficients() const { return b_; }
  double prior_precision(Index coefficient) const { return prior_precision()[coefficient]; }
  // An amount is added to the linear predictor of all rows, if there is an intercept.
  void shift(double by);
  const Likelihood& likelihood() const { return own_ ? *own_ : *shared_.model.likelihood; }

  void draw(const Scores& scores, const DrawKey& now);

  Vec links(const Scores& scores) const;  // (N) means of f_n given x
  // beta'S beta of complete rows, and of a row; zero without feedback, where mean scores are all
  // that f_n has.
  double leftover(const Scores& scores) const { return leftover_of(scores.covariance()); }
  double leftover(const Scores& scores, Index row) const {
    return leftover_of(scores.covariance(row));
  }

  // Numbers of the priors, part by part, and the likelihood's parameters theta_1, ...
  NamedNumbers drawn() const;
  void visit(Archive& archive);

 private:
  struct Rows;  // the labelled rows, at b
  double leftover_of(const Mat& covariance) const;
  void draw_coefficients(const DrawKey& now, int round, Rows& rows);
  void draw_scale(size_t part, const DrawKey& now, Rows& rows);
  Moments moments_of(size_t part) const;
  void draw_hyper(const DrawKey& now);
  void draw_parameters(const DrawKey& now, const Rows& rows);
  Vec prior_precision() const;
  void set_parameters(const Vec& theta);

  const SharedFactors& shared_;
  Vec b_;
  std::vector<Vec> hyper_;  // of each part
  Vec theta_;
  std::unique_ptr<Likelihood> own_;  // at theta, if there are free numbers
};

// Scores of all rows given x, and given y where there is one: w_0 ~ N(m_n, S_n), f_n given y_n
// exactly, and then w_n = w_0 + S_n beta (f_n - f_n(w_0)) / beta'S_n beta (Matheron's rule). (N, K)
Mat draw_scores(const SharedFactors& shared, const Scores& scores, const Classifier& classifier,
                const DrawKey& now, int threads, Host& host);

}  // namespace bsvm
