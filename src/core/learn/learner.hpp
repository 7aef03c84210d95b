#pragma once
#include "additive.hpp"
#include "gaussian/bfgs.hpp"

namespace bsvm {

// A common factor of all length scales that was looked at, with the amplitudes that are best there.
struct LookedAt {
  double log_factor, objective, leave_one_out;
};

struct Learned {
  Additive::Value value;          // where the length scales are those chosen
  std::vector<LookedAt> factors;  // by increasing factor; the bound's own choice has log_factor 0
  double log_factor = 0;          // the one chosen
  bool converged = false;
  bool matched = false;  // is the bound log p(y) with moments matched?
  int evaluations = 0, passes = 0;
};

// Learns the free numbers of an additive model. They go to where the bound and their priors are
// highest, by BFGS; at first, roughly, of few rows, from two starts: as given, and with a quarter of
// the length scales. Then a common
// factor of the length scales is chosen by the closed leave-one-out score, since the bound prefers
// functions that are too smooth (kernels.md, section 11); everything else is best given it.
class Learner {
 public:
  Learner(AdditiveModel model, Host& host);

  // Where the bound is highest, from the start as given, or both.
  Learned climb(int starts);
  // From there, with a common factor of the length scales that predicts better. No starts: kernels
  // are as given.
  Learned choose(int starts);

 private:
  using Value = Additive::Value;

  std::vector<bool> free(bool lengths) const;
  bool has_lengths() const;
  Value climb_from(Value from, const std::vector<bool>& free, FullMetric& metric);
  Value from(int starts);
  double score(Value& at);
  Value scaled(const Value& from, double log_factor);
  void match(Value& at);
  void choose_factor(Learned& out);
  Learned finished(Learned out);
  Vec uphill(const Value& at, const std::vector<bool>& free) const;
  Vec bounded(const Vec& theta) const;
  Value look(ConstVecRef theta, const Value* near);
  void record(const Value& at);

  Additive model_;
  Host& host_;
  FullMetric metric_;  // of what is best given the length scales
  bool converged_ = false;
  int evaluations_ = 0;
};

}  // namespace bsvm
