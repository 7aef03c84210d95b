#include "result.hpp"

namespace bsvm {

const char* name_of(Termination end) {
  switch (end) {
    case Termination::converged: return "converged";
    case Termination::pass_limit: return "pass_limit";
    case Termination::interrupted: return "interrupted";
    case Termination::stalled: return "stalled";
  }
  return "";
}

}  // namespace bsvm
