#include "group_posterior.hpp"

#include <climits>
#include <filesystem>

#include "base/error.hpp"

namespace bsvm {

GroupFile::~GroupFile() {
  std::error_code ignored;
  if (!kept && !path.empty()) std::filesystem::remove(std::filesystem::u8path(path), ignored);
}

void GroupPosterior::join(const GroupPosterior& other) {
  if (effect.size() == 0) {
    *this = other;
    return;
  }
  if (other.effect.size() != effect.size())
    throw InvalidInput("cluster", "Answers have different numbers of group effects.");
  effect += other.effect;
  effect_sd += other.effect_sd;
  factor.append(other.factor);
}

void GroupPosterior::close_factor(const std::vector<int>& root) {
  for (int& row : factor.row)
    if (row < 0) row = static_cast<int>(factor.leading) - 1 - row;
  factor.order.insert(factor.order.end(), root.begin(), root.end());
}

void SparseFactor::append(const SparseFactor& other) {
  if (value.size() + other.value.size() > static_cast<std::size_t>(INT_MAX))
    throw InvalidInput("sparse", "The factor of the effects' precision has too many entries. Leave out a "
                                 "grouping factor.");
  const int before = static_cast<int>(leading), values = static_cast<int>(value.size());
  if (start.empty()) start.push_back(0);
  for (const int at : other.row) row.push_back(at < 0 ? at : at + before);
  for (std::size_t k = 1; k < other.start.size(); ++k) start.push_back(other.start[k] + values);
  value.insert(value.end(), other.value.begin(), other.value.end());
  order.insert(order.end(), other.order.begin(), other.order.end());
  leading += other.leading;
}

}  // namespace bsvm
