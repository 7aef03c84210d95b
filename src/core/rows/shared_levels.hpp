#pragma once
#include <memory>
#include <vector>

#include "model/problem.hpp"
#include "row_source.hpp"

namespace bsvm {

// Rows in several places with several grouping factors. Each place eliminates the levels it has alone;
// shared ones (Model::shared) are coefficients of the State, before the dense ones, and here is what no
// place can say for all of them: their prior, their second moments, their part of the posterior.
class SharedLevels : public DrawSource {
 public:
  // The model must outlive it.
  SharedLevels(const Model& model, std::unique_ptr<DrawSource> rows, Use use);

  Index extra() const override { return static_cast<Index>(model_.shared.size()); }
  void ask(Use use) override;
  void sums(const State& state, RowSums& out, Host& host) override;
  Mat settle(const State& state, Settle how, double change) override;
  void keep() override;
  void back(const State& best) override;
  GroupPosterior groups() const override;

  Vec effects() const override { return put(rows_->effects(), effect_); }
  Vec expected_effects(ConstVecRef expected) const override {
    return put(rows_->expected_effects(expected), expected);
  }
  void restore(ConstVecRef effects, State& state) override;

 private:
  // The effects of a level: their coefficients from `first` on, and their numbers among all effects.
  struct Level {
    Index first, effect, size;
  };

  Vec put(Vec all, ConstVecRef own) const;

  const Model& model_;
  std::unique_ptr<DrawSource> rows_;
  Use use_;
  std::vector<Level> levels_;
  Vec effect_, sd_, kept_effect_, kept_sd_;  // (shared)
};

// The source itself if the model has one grouping factor at most.
std::unique_ptr<DrawSource> with_shared_levels(const Model& model, std::unique_ptr<DrawSource> rows,
                                               Use use);

}  // namespace bsvm
