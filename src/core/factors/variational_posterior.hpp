#pragma once
#include "variational_classifier.hpp"
#include "variational_loadings.hpp"
#include "variational_scores.hpp"

namespace bsvm {

// A variational posterior of a factor model (variational.hpp) and what raises its bound, block by
// block. Without feedback the classifier is no part of it: it has a bound of its own, with mean
// scores given x in place of scores.
class FactorPosterior {
 public:
  // From scores (N, K): loadings of these, and a classifier on them.
  FactorPosterior(const SharedFactors& shared, Use use, const Mat& scores, int threads, Host& host);

  // Changes of coordinates and then all blocks, some times if shrinkage is local.
  void step(int threads, Host& host);
  double bound() const;

  // None lowers the bound.
  void update_scores(int threads, Host& host);
  void update_classifier();
  void update_loadings(int threads, Host& host) { loadings_.update(w_, threads, host); }
  // Changes of coordinates of the scores that loadings and coefficients follow, so that neither x
  // nor responses see them: the best translation, and some steps towards the best linear map.
  void translate();
  void rotate();

  const ScorePosterior& scores() const { return w_; }
  const ClassifierPosterior& classifier() const { return classifier_; }
  const LoadingsPosterior& loadings() const { return loadings_; }
  // What a classifier without feedback has for scores.
  ScorePosterior known_scores() const;
  double classifier_bound() const;  // of a classifier without feedback

  // Of a process (variational_process.cpp): it becomes part of the bound, from now on. Before, and
  // without feedback, scores are those given x alone.
  void join();
  void update_numbers();  // and coefficients with them
  const Vec& theta() const { return theta_; }    // the kernel's numbers, points
  double log_sd() const { return log_sd_; }      // and the process's standard deviation
  // Of scores (K, r): features (M, r) times the standard deviation, and the variance left over.
  Mat features_at(const Mat& w, Vec& left_over) const;

 private:
  bool linear() const { return shared_.model.linear(); }
  bool feedback() const { return shared_.model.feedback && (linear() || joined_); }
  void set_numbers(const Vec& theta, double log_sd);
  void refresh_features();
  void update_process_scores();
  double process_value() const;  // log p of its numbers

  const SharedFactors& shared_;
  LoadingsPosterior loadings_;
  ClassifierPosterior classifier_;
  ScorePosterior w_;
  bool joined_ = false;
  Vec theta_;
  double log_sd_ = 0;
  Mat root_;  // L of the kernel's matrix of the inducing points
};

}  // namespace bsvm
