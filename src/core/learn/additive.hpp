#pragma once
#include <memory>
#include <vector>

#include "base/host.hpp"
#include "gaussian/kernel_newton.hpp"
#include "kernel/kernel.hpp"
#include "likelihood/likelihood.hpp"
#include "prior/prior.hpp"

namespace bsvm {

// One summand of the linear predictor, N(0, s^2 K): K is a kernel of inputs, or F F' of given
// features.
struct Summand {
  std::unique_ptr<Kernel> kernel;  // or null
  Mat inputs;                      // (d, n)
  Mat features;                    // (n, m) F, where there is no kernel
  Vec multiplier;                  // (n) of what the kernel's function is, or none
  Index points = 0;                // how many inducing inputs the fit will have; 0: all rows
  Mat inducing;                    // (d, m) which ones, or none: they are chosen at each theta

  Index size() const { return 1 + (kernel ? kernel->size() : 0); }  // numbers: log s, the kernel's
};

// A free number of the model, and its prior; without one it stays where it starts.
struct FreeNumber {
  double start = 0;
  std::unique_ptr<Prior> prior;
  double low = -50, high = 50;  // where it is looked for
  bool length = false;          // is it the logarithm of a length scale?
};

// theta, whose first entries are these numbers, with these within their limits.
Vec bounded(const std::vector<FreeNumber>& numbers, Vec theta);
// Of a gradient at theta what can move: 0 for a number at its limit that would go beyond.
Vec uphill(const std::vector<FreeNumber>& numbers, ConstVecRef theta, Vec gradient);

// f = X b + the summands, for few rows. The rows are the caller's.
struct AdditiveModel {
  Index n = 0;
  const double* y = nullptr;       // (n) the response, as the likelihood has it
  const double* weight = nullptr;  // (n) or null
  const double* offset = nullptr;  // (n) or null
  Mat fixed;                       // (n, q) X
  Vec variance;                    // (q) of b, independent and normal
  std::vector<Summand> summands;
  std::unique_ptr<Likelihood> likelihood;
  std::vector<FreeNumber> numbers;  // of the summands, one after the other, then the likelihood's
};

// The bound of Gaussian variational inference (models.md, row 19) with every summand in full, and
// its gradient in the free numbers theta. With alpha the rows' slopes in the mean of f, W their
// weights and S the covariance of f, all at the best q (kernels.md, section 2: an envelope theorem),
//
//   d bound / d K = (alpha alpha' - W + W S W) / 2,
//
// whichever summand K belongs to. The likelihood's numbers are moved by a little at fixed q.
//
// With inducing inputs, chosen anew at each theta, K is F F' and a row has the variance left over
// besides, d bound / d left over = -W/2. Kernels' own numbers then have no gradient: they are given.
class Additive {
 public:
  Additive(AdditiveModel model, Host& host);

  struct Value {
    Vec theta;
    double bound = 0, prior = 0;  // of the rows; log density of the numbers that are free
    Vec gradient;                 // (theta) of both; 0 for numbers that stay
    RowNewton::Known rows;

    double objective() const { return bound + prior; }
  };

  // The numbers the model starts from.
  Vec start() const;
  const std::vector<FreeNumber>& numbers() const { return model_.numbers; }

  // At theta, from what is best nearby if that is given; `tolerance` as RowNewton has it.
  Value at(ConstVecRef theta, const Value* near, double tolerance);

  // Which numbers are looked for (theta). If none of the kernels' own are, their gradient costs
  // nothing: it is 0.
  void look_for(const std::vector<bool>& numbers);

  // From here on with the inducing inputs that the fit will have. False if it will have all rows.
  bool approximate();

  // From here on with moments matched (gaussian/row_sites.hpp) in place of the bound, which is then
  // log p(y), as approximated; as the fit has it. False where it has the bound.
  bool match();
  void use_bound() { matched_ = false; }
  bool matches() const { return matched_; }

  // The closed leave-one-out log score, sum_i log p(y_i | other rows): what coefficients explain of
  // f_i is, without its row's factor, N(m - c g, c) with c = v / (1 - v w), slope g and weight w
  // (kernels.md, section 11).
  double leave_one_out(const Value& of) const;

  const Summand& summand(size_t k) const { return model_.summands[k]; }
  size_t summands() const { return model_.summands.size(); }

  // Other inducing inputs (d, m) of a summand.
  void move(size_t k, Mat inducing);

  int passes() const { return passes_; }

 private:
  // What a summand is at some numbers, of unit amplitude.
  struct Made {
    Vec theta;           // the numbers
    bool stale = false;  // have inducing inputs moved since?
    Mat covariance;      // (n, n), or
    Mat features;        // (n, m) and
    Vec left_over;       // (n), or none
  };

  Made make(const Summand& summand, ConstVecRef theta) const;
  Made make_features(const Summand& summand, ConstVecRef theta) const;
  void fill_features(const Summand& summand, ConstVecRef theta, Made& out) const;
  void make_all(ConstVecRef theta);
  RowNewton::Known best_by_rows(ConstVecRef theta, const Value* near, double tolerance);
  bool match_from(RowSites sites, KernelNewton::Point& at);
  RowNewton::Known best_by_columns(ConstVecRef theta, const Value* near, double tolerance);
  void take_design(ConstVecRef theta);
  void find_gradient(Value& at) const;
  void add_rows_gradient(Value& at) const;
  void add_columns_gradient(Value& at) const;
  void add_likelihood_gradient(Value& at) const;
  void add_priors(Value& at) const;
  void hold_kernels(Value& at) const;
  double rows_value(ConstVecRef numbers, const RowNewton::Known& rows) const;

  AdditiveModel model_;
  Host& host_;
  Index likelihood_first_ = 0;
  bool approximate_ = false, matched_ = false;
  bool kernels_ = true, made_as_ = false;
  std::vector<Made> made_;  // of each summand, at the last numbers; `made_as_`: with inducing inputs?
  Mat total_;        // (n, n) the covariance of f, in full
  std::unique_ptr<KernelNewton> newton_;
  Mat design_;       // (n, q + m) X and features, with inducing inputs
  Vec left_over_;    // (n), or none
  Problem problem_;  // its likelihood is the member at the present numbers
  int passes_ = 0;
};

}  // namespace bsvm
