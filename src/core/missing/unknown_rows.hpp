#pragma once
#include <functional>
#include <set>
#include <vector>

#include "latent/latent.hpp"
#include "linalg/weighted_gram.hpp"
#include "mechanism.hpp"
#include "model/problem.hpp"
#include "model/row_sums.hpp"
#include "unknowns.hpp"

namespace bsvm {

// What the unknown entries of a row's variables are given the observed ones, under the imputation
// model; rows in which the same ones are missing share it.
struct MissingPattern {
  std::vector<Index> missing;  // variables
  std::vector<Index> dense;    // those of them that are dense columns: places in `missing`
  int rows = 0;                // how many have it
  int law = -1;                // its place among the laws that are kept
};

// The conditional law of a pattern's missing entries, of covariance C and precision P_MM = L L';
// and, unless they are drawn, what it has to do with their coefficients s (zero for auxiliary
// variables).
struct ConditionalLaw {
  Index pattern = -1;
  Mat precision, factor, covariance;
  double logdet = 0;
  Vec slope;           // E s
  Mat slope_spread;    // Cov s, where x_M is not integrated out; and where it is:
  Vec pulled, moved;   // C E s, C Cov s C E s
  Mat turned;          // C Cov s C
  double spread = 0;   // E s'C s
  double sway = 0;     // variance of s'C s, to first order
};

// One pass's scratch for the rows of a block that have missing entries.
struct UnknownBlock : LatentBlock {
  Index first = 0, count = 0;  // of UnknownRows' rows
  Mat x, residual, product;    // (d, count) variables, less their mean B'z, and P times that
  Arr value;                   // (count) what is added to the bound
  Arr spread, both, square;    // (count) of log E p: -2 times the derivative in t, and those in t's
                               // covariance with m and its variance
  Mat moving;                  // (d, count) what the last two add to the gradient in s
  Arr y, m, v;                 // of the rows whose x_M is not integrated out, and
  RowTerms known;              // their terms; of all rows where the likelihood has no latent scale
  std::vector<Mat> covariance; // of the missing entries, in their units
  Mat latent;                  // (J, rows of the block) of the mechanism: E a, or a draw
  ConditionalLaw own;          // of a pattern that only one row has
  WeightedGram squares;
  Arr ones;
};

// The row side of the imputation model (000, section 3.3 and Appendix C). Besides the State it keeps
// in sampling the entries as drawn; what q says of them follows from the State:
//
//   augmented  the best q(x_M) and E 1/a of a row together, which is a concave problem in the one
//              number sqrt(chi): at its solution chi = E u^2
//   expected   x_M integrated out: f ~ N(m, t) with m and t = s'C s functions of the coefficients
//              s of x_M, C = Cov(x_M | x_O), whose average over b is by a rule
class UnknownRows : public LatentRows {
 public:
  UnknownRows(const Unknowns& unknowns, const Problem& problem, const Partition& partition);
  std::unique_ptr<LatentBlock> scratch() const override {
    return std::make_unique<UnknownBlock>();
  }

  void prepare(const State& state, Use use) override;
  void expect(const BlockRange& range, RowBlock& block, LatentBlock& scratch) const override;
  void average(const BlockRange& range, const State& state, const Likelihood& likelihood,
               RowBlock& block, LatentBlock& scratch) const override;
  bool integrate(const BlockRange& range, const State& state, const Likelihood& likelihood,
                 const RowBlock& block, RowTerms& terms, LatentBlock& scratch) const override;
  void fill(const BlockRange& range, RowBlock& block) const override;
  void draw(const BlockRange& range, const State& state, RowBlock& block, RowTerms& terms,
            LatentBlock& scratch) override;

  Index count() const override { return static_cast<Index>(rows_.size()); }
  Index place(Index number) const override { return rows_[number].at; }
  void find_spreads(ConstVecRef mean) override;
  double spread(Index number) const override { return spreads_[rows_[number].pattern]; }
  void draw_given(Index number, const State& state, double away, Draws& random,
                  LatentBlock& scratch) override;

  void add(const BlockRange& range, const RowBlock& rows, const RowTerms& terms,
           LatentBlock& scratch, RowSums& out) const override;
  // Of the complete rows, in the sums of the imputation model.
  void add_lane(Index lane, const State& state, RowSums& out) const override;

  Vec drawn() const override { return drawn_; }
  void restore(ConstVecRef drawn) override { drawn_ = drawn; }
  Imputations places() const override;
  void read(const LatentBlock& scratch, Imputations& out) const override;

 private:
  struct Row {
    Index at;       // in working order
    Index row;      // of the problem
    Index pattern;
    Index entry;    // where its entries begin
  };

  struct CompleteSums {
    Mat square, cross, gram;  // of x x' (d, d), z x' (k, d), z z' (k, k)
  };

  struct RowProblem;
  struct RowSolution;
  static void solve_given(const RowProblem& of, const double* w, RowSolution& out);
  static void solve(const RowProblem& of, RowSolution& out);
  static void solve_one(const RowProblem& of, RowSolution& out);
  static void solve_several(const RowProblem& of, RowSolution& out);
  double settle(const Row& row, Index at, RowProblem& problem, RowSolution& found, ConstVecRef x,
                UnknownBlock& out) const;
  void add_spread(const MissingPattern& pattern, const Mat& covariance, const Vec& slope,
                  double weight, RowSums& out) const;
  void add_indicators(const BlockRange& range, const RowBlock& rows, UnknownBlock& block,
                      RowSums& out) const;
  void draw_one(const Row& row, Index at, Index number, const State& state, RowBlock& block,
                RowTerms& terms, UnknownBlock& out);
  void draw_indicators(const BlockRange& range, const State& state, const RowBlock& rows,
                       UnknownBlock& out) const;
  // Numbers of patterns, by what is missing.
  using PatternNumbers = std::set<Index, std::function<bool(Index, Index)>>;
  static UnknownBlock& own(LatentBlock& scratch) { return static_cast<UnknownBlock&>(scratch); }
  void find_rows();
  void find_rows(const BlockRange& range, Mat& design, PatternNumbers& numbers, WeightedGram& squares,
                 CompleteSums& out);
  Index entries() const { return start_.back(); }
  void add_row(Index at, ConstVecRef x, PatternNumbers& numbers);
  void sum_complete(const Mat& x, const Mat& z, WeightedGram& squares, CompleteSums& out) const;
  void find(const BlockRange& range, UnknownBlock& out) const;
  void variables(const Row& row, const double* design, VecRef out) const;
  const ConditionalLaw& law(Index pattern, UnknownBlock& scratch) const;
  void make_law(Index pattern, ConditionalLaw& out) const;
  void keep_laws();
  void put(const Row& row, const MissingPattern& pattern, const UnknownBlock& from, Index at,
           const BlockRange& range, RowBlock& block) const;
  void add_slopes(const MissingPattern& pattern, ConditionalLaw& out) const;
  Vec slopes(const MissingPattern& pattern, ConstVecRef mean) const;
  Vec coupling(const MissingPattern& pattern, const double* centred, const double* design,
               const State& state) const;
  bool integrated(const Row& row) const {
    return begun_ && !patterns_[row.pattern].dense.empty();
  }
  void find_known(const BlockRange& range, const Likelihood& likelihood, const RowBlock& block,
                  RowTerms& terms, UnknownBlock& out) const;
  void add_moving(const Row& row, Index number, const double* design, const UnknownBlock& block,
                  const ConditionalLaw& of, RowSums& out) const;
  // Of a row's draws: its place in working order among all rows.
  std::uint64_t key_of(Index at) const {
    return static_cast<std::uint64_t>(problem_.first_row + at);
  }
  bool draws() const { return use_ == Use::drawn || use_ == Use::marginal; }
  double shared(const Row& row) const { return weight_ ? weight_[row.row] : 1; }

  const Problem& problem_;
  const Unknowns& unknowns_;
  const Partition& partition_;
  ImputationSlots slots_;
  Mechanism mechanism_;
  const double* weight_;
  Vec shift_, factor_;                  // (d) the design inside is shift + factor variable
  std::vector<Index> auxiliary_;        // (d) which auxiliary column, or -1
  std::vector<Row> rows_;               // by working order
  std::vector<Index> start_;            // first entry of each by row of the problem, and the end
  std::vector<MissingPattern> patterns_;
  std::vector<CompleteSums> complete_;  // by lane
  // Of this pass:
  Mat precision_, mean_;                // P and E B
  bool begun_ = false;                  // is there a q of the coefficients? Then
  Vec coefficients_;                    // (p) their mean and
  Mat covariance_;                      // (p, p) covariance, groups integrated out
  std::vector<ConditionalLaw> laws_;    // of patterns that several rows have; marginal: of all
  Vec spreads_;                         // (patterns)
  Use use_ = Use::point;
  Vec drawn_;
};

}  // namespace bsvm
