#pragma once
#include <functional>

#include "point_model.hpp"

namespace bsvm {

// Hyper-parameters, and where it is given these.
struct PointRun {
  PointModel::Hyper hyper;
  Point point;
};

// The lowest point of the objective that a design has.
using MinimiseDesign =
    std::function<PointRun(const Design& design, const EstimateOptions& options, Host& host)>;

// That of all rows, read in parts as often as it takes: in turn the objective is minimised that is known
// near the best point so far (globs.hpp), and all rows are looked at where that minimum is. Powers of at
// least one: as with cutting planes, duals of what lies below the objective bound it.
PointRun minimise_read(const Problem& whole, const RowParts& parts, const EstimateOptions& options,
                       const MinimiseDesign& minimise, Host& host);

}  // namespace bsvm
