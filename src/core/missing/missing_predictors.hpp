#pragma once
#include "imputation_model.hpp"
#include "latent/latent.hpp"
#include "unknowns.hpp"

namespace bsvm {

// Missing predictors as a latent: the imputation model is its global part, unknown_rows.hpp its row
// side. Registered as "normal" and, with a mechanism, as "selection".
class MissingPredictors : public Latent {
 public:
  MissingPredictors(const Unknowns& unknowns, Index n);
  explicit MissingPredictors(const Params& params);

  bool any() const override { return true; }
  bool supports(Use use) const override;
  void check(const Problem& problem) const override;
  void look_at(const LatentPart& part) override;
  std::unique_ptr<LatentRows> rows(const Problem& problem,
                                   const Partition& partition) const override;

  Index state_size() const override { return slots_.state_size(); }
  Index sums_size() const override { return slots_.sums_size(); }
  void start(State& state) const override { model_.start(state); }
  void update(const RowSums& sums, State& state) const override { model_.update(sums, state); }
  double change(const RowSums& sums, const State& state) const override {
    return model_.change(sums, state);
  }
  double value(const State& state) const override { return model_.value(state); }
  void draw(const RowSums& sums, State& state) const override { model_.draw(sums, state); }
  Vec drawn(const State& state) const override { return model_.drawn(state); }

  // mean (k, d), covariance (d, d), probit (q, J).
  NamedMatrices report(const State& state) const override;
  NamedMatrices report_drawn(ConstVecRef drawn) const override;

 private:
  // Where the numbers of rows that are read in parts stand: columns of the design, counted from 1, 0 for
  // ones, -1, -2, ... for columns beside them; and by what columns beside them become variables.
  struct Parts {
    std::vector<Index> given, auxiliary;
    Vec center, scale;
  };
  static Parts parts_from(const Params& params);

  Unknowns unknowns_;
  Index n_;
  Parts parts_;
  Mat given_, auxiliary_;  // of the part that was looked at last
  ImputationSlots slots_;
  ImputationModel model_;
};

}  // namespace bsvm
