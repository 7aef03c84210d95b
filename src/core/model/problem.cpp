#include "problem.hpp"

#include "../error.hpp"
#include "../rows/units.hpp"

namespace bsvm {

Index Problem::columns() const {
  Index p = 0;
  for (const auto& part : blocks) p += part->columns();
  return p;
}

Index Problem::effects() const { return multipliers ? multipliers->columns() : 0; }

namespace {

void check_cover(const std::vector<PriorSlot>& priors, Index columns, const char* argument) {
  std::vector<int> seen(columns, 0);
  for (const PriorSlot& slot : priors)
    for (Index j : slot.columns) {
      if (j < 0 || j >= columns)
        throw InvalidInput(argument, "A prior names a column that does not exist.");
      ++seen[j];
    }
  for (int times : seen)
    if (times != 1)
      throw InvalidInput(argument, "Every column must have exactly one prior.");
}

}  // namespace

void check(const Problem& problem) {
  check_cover(problem.priors, problem.columns(), "blocks");
  check_cover(problem.group_priors, problem.effects(), "group_blocks");
  for (const PriorSlot& slot : problem.priors)
    if (slot.unseen > 0 && !slot.prior->exchangeable())
      throw InvalidInput("prior",
                         "A block with more columns than rows needs one variance for all "
                         "its coefficients.");
  for (const PriorSlot& slot : problem.group_priors)
    if (!slot.prior->exchangeable() || slot.columns.size() != 1)
      throw InvalidInput("prior",
                         "The effects of a grouping factor need one variance for all its "
                         "levels.");
  if (problem.effects() > kMostEffects)
    throw InvalidInput("formula", "A group can have at most " +
                                      std::to_string(kMostEffects) + " effects.");
}

}  // namespace bsvm
