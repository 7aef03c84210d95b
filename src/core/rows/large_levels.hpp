#pragma once
#include <memory>
#include <vector>

#include "data/group_states.hpp"
#include "model/problem.hpp"
#include "row_source.hpp"

namespace bsvm {

// Rows wherever they are, with levels so large that their rows lie in several lanes, files or machines
// (Model::large). Each piece is eliminated by itself there, sums of pieces meet as they are added
// (model/row_sums.hpp), and here, where all have come together, each large level is moved like any
// other, and sent with the State.
class LargeLevels : public DrawSource {
 public:
  // The model must outlive it.
  LargeLevels(const Model& model, std::unique_ptr<DrawSource> rows, Use use);

  Index extra() const override { return rows_->extra(); }
  void ask(Use use) override;
  void sums(const State& state, RowSums& out, Host& host) override;
  Mat settle(const State& state, Settle how, double change) override;
  void keep() override;
  void back(const State& best) override;
  GroupPosterior groups() const override;
  Imputations imputations(const State& state) override { return rows_->imputations(with(state)); }

  Vec effects() const override { return put(rows_->effects(), groups_.effect); }
  Vec expected_effects(ConstVecRef expected) const override {
    return put(rows_->expected_effects(expected), expected_);
  }
  void restore(ConstVecRef effects, State& state) override;
  Vec unknowns() const override { return rows_->unknowns(); }
  void restore_unknowns(ConstVecRef drawn) override { rows_->restore_unknowns(drawn); }
  void fill_unknown(Mat& design) override { rows_->fill_unknown(design); }

 private:
  bool one_precision() const { return use_ != Use::augmented; }
  Index count() const { return static_cast<Index>(levels_.size()); }
  State with(const State& state) const;
  void eliminate(bool curvature, RowSums& sums, Mat& regression);
  std::shared_ptr<const GroupFile> rewritten(const std::shared_ptr<const GroupFile>& file) const;
  Vec put(Vec all, const Mat& own) const;

  const std::vector<LargeLevel>& levels_;
  std::unique_ptr<DrawSource> rows_;
  Use use_;
  GroupStates groups_;  // one group a large level
  GroupPosterior kept_;
  Mat expected_;        // (q, large) Use::drawn: what effects were drawn around
};

// The source itself if the model has no large level.
std::unique_ptr<DrawSource> with_large_levels(const Model& model, std::unique_ptr<DrawSource> rows,
                                              Use use);

}  // namespace bsvm
