#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/params.hpp"
#include "base/registry.hpp"
#include "base/types.hpp"
#include "base/use.hpp"
#include "data/partition.hpp"
#include "data/row_block.hpp"
#include "likelihood/likelihood.hpp"
#include "random/draws.hpp"

namespace bsvm {

struct Problem;
struct RowSums;
struct State;

// What a fit says of the unknown entries, by row and then variable, in the latent's own units.
struct Imputations {
  std::vector<Index> row, variable;  // from 0
  Vec mean, sd;
};

using NamedMatrices = std::vector<std::pair<std::string, Mat>>;

// Scratch for the rows of one block, made by LatentRows::scratch(): what its calls on a block leave
// for the next ones.
struct LatentBlock {
  virtual ~LatentBlock() = default;
};

// The row side of a latent, one for each source of rows: which entries of the design are unknown,
// and what is known of them at a State. A pass over a block of rows (in working order) calls
//
//   use                    before the pass   design              moments of f     answer      sums
//   augmented              prepare           expect              average                      add
//   expected               prepare           expect                               integrate   add
//   drawn                  prepare           fill                                 draw        add
//   marginal (of slices)   prepare           expect, find_spreads                 draw_given  add
//
// and add_lane once for each lane. Calls on blocks of one pass may run at the same time, each
// with a scratch of its own. The base class is of no unknown entries: nothing is changed or added.
class LatentRows {
 public:
  virtual ~LatentRows() = default;
  virtual std::unique_ptr<LatentBlock> scratch() const { return std::make_unique<LatentBlock>(); }

  // What depends on the State alone.
  virtual void prepare(const State&, Use) {}

  // The means of the unknown entries, the response left aside, into the block's design.
  virtual void expect(const BlockRange&, RowBlock&, LatentBlock&) const {}

  // After the moments m and v of f given these means: the best q of the entries, with that of the
  // latent scales, enters design and moments. The likelihood is the one at the State.
  virtual void average(const BlockRange&, const State&, const Likelihood&, RowBlock&,
                       LatentBlock&) const {}

  // Or the entries are integrated out of the likelihood: the terms of all rows of the block, row
  // weights included. Returns false where it does not: the terms are then the likelihood's own.
  // After add() it is asked again, for values under likelihoods whose parameters have moved: these
  // must not depend on what it left in the scratch before.
  virtual bool integrate(const BlockRange&, const State&, const Likelihood&, const RowBlock&,
                         RowTerms&, LatentBlock&) const {
    return false;
  }

  // The entries as drawn last, into the design; and a new draw of them given the latent scales,
  // which design, m and the terms' slope have to follow.
  virtual void fill(const BlockRange&, RowBlock&) const {}
  virtual void draw(const BlockRange&, const State&, RowBlock&, RowTerms&, LatentBlock&) {}

  // What the entries add to the sums of a block, besides what its design and terms say: to the
  // value (under q), to the coefficients' linear term and precision, and to the latent's own slot.
  // Without terms where the entries were drawn by draw_given().
  virtual void add(const BlockRange&, const RowBlock&, const RowTerms&, LatentBlock&,
                   RowSums&) const {}
  virtual void add_lane(Index /*lane*/, const State&, RowSums&) const {}

  // Use::marginal, row by row of those with unknown entries, numbered in working order: where it
  // stands; the variance of f that its entries make, at coefficients given to find_spreads(); and a
  // draw of the entries (expect() has been asked) given that f is this far from its mean.
  virtual Index count() const { return 0; }
  virtual Index place(Index) const { return 0; }
  virtual void find_spreads(ConstVecRef) {}
  virtual double spread(Index) const { return 0; }
  virtual void draw_given(Index, const State&, double, Draws&, LatentBlock&) {}

  // The entries as drawn last, by row of the problem.
  virtual Vec drawn() const { return Vec(); }
  virtual void restore(ConstVecRef) {}

  // Where the entries stand, and the draws as means; moments of a block's entries as expect(),
  // average() and integrate() left them, into those of all.
  virtual Imputations places() const { return Imputations(); }
  virtual void read(const LatentBlock&, Imputations&) const {}
};

// Of rows that are read in parts: how many, and views of the design's columns without the intercept, as
// they are, and of what was written beside them for the latent, both by column.
struct LatentPart {
  Index n = 0;
  const double *columns = nullptr, *beside = nullptr;
};

// Something unknown in the design of rows (missing predictors, scores, true values behind measured
// ones): a component of the model. It owns what is unknown of all rows together, its global part,
// whose numbers it lays out itself in the slots State::latent() and RowSums::latent(), and it makes
// the row side. Implementations register and are made from numbers and arrays (base/params.hpp).
// The base class is nothing: what a Problem without a latent has.
class Latent {
 public:
  Latent() = default;
  virtual ~Latent() = default;

  virtual bool any() const { return false; }
  // Of Use::augmented, expected, drawn and marginal: has its row side the methods for it?
  virtual bool supports(Use) const { return true; }
  // Throws InvalidInput unless it fits the problem's rows and columns.
  virtual void check(const Problem&) const {}

  // From now on rows() is of these.
  virtual void look_at(const LatentPart&) {}

  virtual std::unique_ptr<LatentRows> rows(const Problem&, const Partition&) const {
    return std::make_unique<LatentRows>();
  }

  // ---- the global part
  virtual Index state_size() const { return 0; }  // numbers in the State
  virtual Index sums_size() const { return 0; }   // and in the sums over rows

  virtual void start(State&) const {}
  // The best q of it given the sums; and how far that is from the State's, squared, in its own
  // metric.
  virtual void update(const RowSums&, State&) const {}
  virtual double change(const RowSums&, const State&) const { return 0; }
  // What of the bound no row knows of.
  virtual double value(const State&) const { return 0; }
  // Draws it given the sums of the completed rows.
  virtual void draw(const RowSums&, State&) const {}

  // What is kept of a draw; and what a fit reports: of q, and of a mean of kept draws.
  virtual Vec drawn(const State&) const { return Vec(); }
  virtual NamedMatrices report(const State&) const { return {}; }
  virtual NamedMatrices report_drawn(ConstVecRef) const { return {}; }
};

// Throws InvalidInput unless the latent supports the use.
void check_use(const Latent& latent, Use use);

}  // namespace bsvm
