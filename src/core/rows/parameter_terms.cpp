#include "parameter_terms.hpp"

namespace bsvm {

ParameterTerms::ParameterTerms(const Problem& problem)
    : problem_(problem), own_(problem.likelihood->free_size()),
      coefficients_(problem.likelihood->coefficients()), kept_(problem.single_parameters()) {}

void ParameterTerms::prepare(const State& state) {
  moved_.clear();
  second_ = state.slopes() > 1;
  if (state.slopes() == 0) return;
  for (const Index k : kept_)
    for (const double by : {kStep, -kStep}) move(state, k, k, by);
  for (size_t k = 0; k < kept_.size() && second_; ++k)
    for (size_t j = 0; j < k; ++j)
      for (const double by : {kStep, -kStep}) move(state, kept_[j], kept_[k], by);
}

// `each`: the rows' shares, a column for each of what moved.
void ParameterTerms::add_coefficients(const Eigen::Ref<const Arr>& y, const Arr& now,
                                      const Mat& each, RowSums& out) const {
  const Index first = own_ - coefficients_, size = static_cast<Index>(kept_.size());
  const auto fall = [&](Index at) {
    return Vec(2 * now.matrix() - each.col(at) - each.col(at + 1));
  };
  Mat z;
  problem_.likelihood->columns_of(y, z);
  out.pull().segment(first, coefficients_) += z * (each.col(0) - each.col(1)) / (2 * kStep);
  if (!second_) return;
  const Vec own = fall(0);
  auto bend = out.bend();
  bend.block(first, first, coefficients_, coefficients_) +=
      z * (own / (kStep * kStep)).asDiagonal() * z.transpose();
  for (Index k = 0; k < size; ++k) {
    const Vec cross = k == 0 ? Vec(own / (kStep * kStep))
                             : Vec((fall(2 * size + k * (k - 1)) - own - fall(2 * k)) /
                                   (2 * kStep * kStep));
    const Vec of = z * cross;
    bend.block(first, kept_[k], coefficients_, 1) += of;
    bend.block(kept_[k], first, 1, coefficients_) += of.transpose();
  }
}

// Parameter k, and j if it is another. Only who fills a design looks at the State.
void ParameterTerms::move(const State& state, Index j, Index k, double by) {
  Vec parameters = state.parameters();
  parameters[k] += by;
  if (j != k) parameters[j] += by;
  moved_.push_back({State(Layout()), CurrentLikelihood(*problem_.likelihood), k >= own_});
  Moved& to = moved_.back();
  to.likelihood.follow(parameters);
  if (!to.design) return;
  to.state = state;
  to.state.parameters() = parameters;
}

}  // namespace bsvm
