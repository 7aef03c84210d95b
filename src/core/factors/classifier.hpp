#pragma once
#include <memory>

#include "base/host.hpp"
#include "chain/archive.hpp"
#include "links.hpp"
#include "shared.hpp"

namespace bsvm {

// The other side of a chain: how f_n depends on scores and covariates, with its hyper-parameters
// and the free numbers of the likelihood. `now` keys what it draws.
class Classifier {
 public:
  virtual ~Classifier() = default;

  // Draws all of it; the scores' distribution is the one given x alone.
  virtual void draw(const Scores& scores, const DrawKey& now, int threads, Host& host) = 0;

  // Scores of all rows (N, K) given x, and given y where there is one.
  virtual Mat draw_scores(const Scores& scores, const DrawKey& now, int threads, Host& host) = 0;

  // Scores become w_n + delta. Without responses delta were normal with this precision, and
  // `linear` is precision times mean. Empty if they can't move.
  virtual Vec draw_translation(Mat precision, Vec linear, const DrawKey& now, int threads,
                               Host& host) = 0;

  // The factors' share of f_n given x alone.
  virtual LinkMoments links(const Scores& scores, int threads) const = 0;
  // Of a complete row, or of the mean row if it depends on the row.
  virtual double leftover(const Scores& scores, const LinkMoments& links) const = 0;
  // S beta of complete rows if it is linear, else nothing.
  virtual Vec direction(const Scores& scores) const = 0;

  virtual Vec alpha() const = 0;         // (d) of covariates
  virtual Vec coefficients() const = 0;  // alpha, and beta if it is linear
  // Numbers of the priors part by part, and of the likelihood.
  virtual NamedNumbers drawn() const = 0;
  virtual Vec seldom() const { return Vec(); }  // what of it is kept together with loadings

  virtual void visit(Archive& archive) = 0;
};

// `random`: for where it starts; w (N, K): with which scores.
std::unique_ptr<Classifier> make_linear_classifier(const SharedFactors& shared, Draws& random);
std::unique_ptr<Classifier> make_process_classifier(const SharedFactors& shared, const Mat& w,
                                                    Draws& random);

// Without inducing points.
std::unique_ptr<Classifier> make_exact_classifier(const SharedFactors& shared, const Mat& w,
                                                  Draws& random);

std::unique_ptr<Classifier> make_classifier(const SharedFactors& shared, const Mat& w,
                                            Draws& random);

}  // namespace bsvm
