#pragma once
#include <vector>

#include "model/current_likelihood.hpp"
#include "model/problem.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

// All rows in memory with their linear predictors f, for samplers that move along lines and
// ellipses. What moves is x: the dense coefficients (p) and then all effects by term, level and
// effect, inside.
class Predictors : public LineSource {
 public:
  explicit Predictors(const Problem& problem);

  Index rows() const { return problem_.n; }
  const Likelihood& likelihood() const { return *likelihood_; }
  const Mat& design() const { return design_; }  // (n, p) the dense columns
  Mat& design() { return design_; }  // for entries that are drawn; find() then
  Vec& f() { return f_; }
  const Vec& f() const { return f_; }
  Vec& effects() { return effects_; }
  const Vec& effects() const { return effects_; }

  // The likelihood at the State's parameters from now on.
  void follow(const State& state) { likelihood_.follow(state); }

  // The design as the State has it, f as it was.
  void look(const State& state);

  // f of the State's dense coefficients and the effects there are, at its parameters.
  void find(const State& state);

  // By what f changes with x (p + effects), and with each of several: (n, k).
  Vec change(ConstVecRef x) const;
  Mat changes(const Mat& x) const;

  // Prior precision times x (p + effects).
  Vec weigh(ConstVecRef dense_precision, const Mat& group_prior, ConstVecRef x) const;

  double value() const;
  // The log-likelihood at f + s a + t b.
  double value(const Vec& a, const Vec& b, double s, double t) const;
  // And between two others.
  double value_between(const Vec& from, const Vec& to, double share) const;

  void aim(const Line& line) override;
  double along(double t) override;
  void move(double t) override;
  double log_likelihood(const State& state) override;

  // Each effect in turn by a slice over its own rows: of this factor, or of all (below zero). The
  // sums over levels of u u' (q, q). `purpose`: another one where effects were drawn in this sweep.
  Mat slide(const State& state, Index factor, Purpose purpose = Purpose::groups);
  // Those of any effects (as effects()).
  Mat group_moments(ConstVecRef effects) const;

 private:
  // Effects of a factor: its first among all of a level's, and among effects_.
  struct Term {
    Index levels, effects, first_effect, first;
  };

  void take_multipliers(const Mat& z);
  void take_sparse();
  double slide(Index column, double precision, double pull, Draws& random);
  LineRows rows_at(const Vec& f, const Vec* a, const Vec& b) const;

  const Problem& problem_;
  bool varies_;  // do its columns depend on the State?
  Index numbers_ = 0;  // and on these parameters alone, the last ones (0: on more)
  Vec looked_;         // where they were looked at
  CurrentLikelihood likelihood_;
  std::vector<Term> terms_;
  Mat design_;
  std::vector<Index> start_;      // (effects + 1): effect's rows, and their multipliers
  std::vector<int> row_;
  std::vector<double> value_;
  Vec effects_, f_, slope_;
  Line line_;
  Arr own_y_, own_f_, own_slope_, own_weight_;  // of an effect's rows
};

}  // namespace bsvm
