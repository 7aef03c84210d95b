#pragma once
#include <functional>
#include <memory>

#include "base/host.hpp"
#include "latent/latent.hpp"
#include "model/group_posterior.hpp"
#include "model/row_sums.hpp"
#include "model/state.hpp"

namespace bsvm {

// How `settle` brings the groups in line with a new State.
enum class Settle {
  advance,  // take the covariance and the step of the last `sums`
  shorten,  // the State's step was shortened by `change` (< 0) of its length
  draw      // draw the effects given the dense coefficients, which took `step`
};

// A line through the coefficients: at t the dense ones are b + t dense, and effect a of
// every level is (1 + t effect[a]) times what it was.
struct Line {
  Vec dense;   // (p) of the problem's dense columns
  Vec effect;  // (q)
};

// Moves along a line with the latent scales averaged out: aim() finds by what f changes in every
// row, along(t) is the log-likelihood there, move(t) goes there (the State's dense coefficients are
// the caller's to move).
class LineSource {
 public:
  virtual ~LineSource() = default;
  virtual void aim(const Line& line) = 0;
  virtual double along(double t) = 0;
  virtual void move(double t) = 0;

  // The log-likelihood at the State's parameters of the likelihood and of blocks, coefficients and
  // effects as they are; later calls are about these parameters.
  virtual double log_likelihood(const State& state) = 0;
};

// Where the rows are: in memory, in files, on other machines. The State goes
// in, RowSums come out, and neither grows with rows or groups of usual sizes.
class RowSource {
 public:
  virtual ~RowSource() = default;

  // How many of the State's coefficients are the source's own: those of sparse columns that
  // couple too densely to be eliminated. They come first, and their prior is the source's business.
  virtual Index extra() const { return 0; }

  // What later passes ask of the likelihood: of the uses whose weight is the curvature too.
  virtual void ask(Use use) = 0;

  // One pass over the rows. Throws Interrupted when the host asks for it.
  virtual void sums(const State& state, RowSums& out, Host& host) = 0;

  // Brings the groups' own posterior (or draw) in line with the dense coefficients' new one
  // and returns the sum over levels of E u u' (q, q). No row is touched.
  virtual Mat settle(const State& state, Settle how, double change) = 0;

  // The groups as they are now go with the best State so far; groups() returns the
  // last that were kept, back() makes them those of now again. Groups stay where their rows are
  // until then.
  virtual void keep() = 0;
  virtual void back(const State& best) = 0;
  virtual GroupPosterior groups() const = 0;

  // What q says of unknown entries at a State; where they are drawn, the draws.
  virtual Imputations imputations(const State&) { return Imputations(); }
};

// What sampling (Use::drawn) needs besides.
class DrawSource : public RowSource {
 public:
  // The effects of all levels: by term, level, effect.
  virtual Vec effects() const = 0;           // the current draw
  // What settle() drew it around; extra ones stand in `expected`, the State's coefficients'.
  virtual Vec expected_effects(ConstVecRef expected) const = 0;
  // They have moved since; extra ones move in the State too.
  virtual void restore(ConstVecRef effects, State& state) = 0;

  // Unknown entries as they were drawn last; and put into a design (n, p), rows as the problem has
  // them.
  virtual Vec unknowns() const { return Vec(); }
  virtual void restore_unknowns(ConstVecRef) {}
  virtual void fill_unknown(Mat&) {}
};

// What passes have learned of the rows, and a source of the same rows that knows it.
class KeptSource : public DrawSource {
 public:
  using DrawSource::restore;
  virtual Vec kept() const = 0;
  virtual void restore(const Vec& kept) = 0;
};

// Makes the row source of a run that asks this of the likelihood, for so many threads, wherever the
// rows are. What looks at rows once (integrated effects, slices, point estimates, selection among
// more columns than rows) reads the Problem itself and needs them in memory.
using MakeSource = std::function<std::unique_ptr<RowSource>(Use use, int threads)>;

// The same for samplers. Rows that can be sampled from are in memory.
using MakeDraws = std::function<std::unique_ptr<DrawSource>(Use use, int threads)>;

}  // namespace bsvm
