#pragma once
#include <memory>
#include <vector>

#include "base/types.hpp"
#include "block/block.hpp"
#include "latent/latent.hpp"
#include "likelihood/likelihood.hpp"
#include "prior/prior.hpp"

namespace bsvm {

// A prior and the coefficients it speaks of: columns of the design, or effects of a
// grouping factor (then every level has such coefficients).
struct PriorSlot {
  std::unique_ptr<Prior> prior;
  std::vector<Index> columns;
  double unseen = 0;  // coefficients of the block that no row can see
  Index levels = 1;   // how often the columns occur: once, or once a level
  bool parameter = false;  // of a parameter of the likelihood or a block, and of no columns
  Vec start = Vec();  // its free numbers where they are known to be about; or empty
};

// A grouping factor, or a block of sparse predictors (then a level is a column).
struct SparseTerm {
  Index levels, effects;
};

// The columns Z (n, columns) of crossed and nested factors and of sparse predictors,
// compressed by column: by term, then level, then effect.
struct SparseColumns {
  Index columns = 0;
  const int* start = nullptr;     // (columns + 1)
  const int* row = nullptr;       // rows 0 .. n - 1, increasing within a column
  const double* value = nullptr;
  std::vector<SparseTerm> terms;
  // Of a part of all rows: which columns of all these are (columns), increasing, all shared ones
  // (Model::shared) among them. Null where all rows are.
  const int* number = nullptr;
};

// A level, counted from 0, with so many rows that these are cut into pieces (rows/large_levels.hpp).
struct LargeLevel {
  Index level, rows;
};

// The model: what the coefficient side needs. It knows how many rows and levels there are, not what
// is in them, so it is the same wherever the rows are. Sparse columns, whose terms the priors
// speak of, come with their rows; of rows elsewhere only the terms are known.
struct Model {
  Index n = 0;               // rows
  Index groups = 0;          // levels of the grouping factor of `multipliers`
  std::vector<LargeLevel> large;  // in their order

  std::vector<std::unique_ptr<Block>> blocks;  // the dense coefficients, in order
  std::unique_ptr<Block> multipliers;          // (q, n) of the grouping factor, or null
  SparseColumns sparse;                        // or none; not together with multipliers
  std::vector<int> shared;  // sparse columns of levels with rows in several places, increasing
  std::unique_ptr<Latent> latent = std::make_unique<Latent>();  // unknown in the design; never null
  Index integrated = -1;  // the term whose effects are integrated out (0: of multipliers), or none

  std::unique_ptr<Likelihood> likelihood;
  // Of the dense coefficients; then of each parameter of the likelihood and of the blocks, in order.
  std::vector<PriorSlot> priors;
  std::vector<PriorSlot> group_priors;  // of the effects: multipliers, or all terms' effects
  std::vector<Index> leaving;  // of `priors`: whose variances Rows::left_over has shares of
  Vec tilt;  // (p) added to the log density as tilt'b, outside scale; or empty

  Index columns() const;   // p: all blocks together
  Index effects() const;   // q: effects a group has, or of all terms together
  Index group_coefficients() const;  // one a level and effect
  Index parameters() const;  // free numbers of the likelihood and the blocks
  std::vector<Index> single_parameters() const;  // those that are no coefficients of one of them
  bool selects() const;     // does a prior of the dense coefficients?
};

// What is known of each row, besides what the blocks, the sparse columns and the unknown predictors
// look up themselves.
struct Rows {
  const double* y = nullptr;       // (n) the response, as the likelihood has it; null: elsewhere
  const double* weight = nullptr;  // (n) > 0, or null: all one
  const double* offset = nullptr;  // (n) or null: none
  // (n, leaving) or null: shares of those priors' variances that are the linear predictor's own,
  // explained by no coefficient and independent of all else. They are part of a row's moments, so
  // engines that average over these have them.
  const double* left_over = nullptr;
  const int* group = nullptr;      // (n) codes 1..groups, or null
  // Of a part of all rows: how many rows and levels are before it, by which numbers of draws are
  // keyed. Rows count by level, then in their order.
  Index first_row = 0, first_level = 0;
};

// What never changes during a run. Views (of the rows and in the blocks) look at
// the caller's memory, which must outlive the Problem; nothing is copied.
struct Problem : Model, Rows {
  // Are the rows in this process's memory? If not, they are reached through a RowSource alone.
  bool here() const { return y || n == 0; }
};

// Throws InvalidInput unless the parts fit together: slots cover every column
// once, a prior of group effects ties together those of its block, sizes are within bounds.
void check(const Problem& problem);

}  // namespace bsvm
