#include <doctest/doctest.h>

#include <limits>

#include "base/error.hpp"
#include "base/params.hpp"

using namespace bsvm;

namespace {

const Params kNumbers("ridge", {{"shape", 0.5}, {"scale", -1}, {"on", 1}, {"off", 0},
                                {"none", std::numeric_limits<double>::quiet_NaN()}});

// "argument: message", or nothing.
template <class F>
std::string refusal(F read) {
  try {
    read();
  } catch (const InvalidInput& error) {
    return error.argument() + ": " + error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("numbers are read by name") {
  CHECK(kNumbers.finite("scale") == -1);
  CHECK(kNumbers.positive("shape") == 0.5);
  CHECK(kNumbers.flag("on"));
  CHECK_FALSE(kNumbers.flag("off"));
}

TEST_CASE("a number that will not do is refused with its name, the rule and itself") {
  CHECK(refusal([] { kNumbers.finite("df"); }) == "df: 'df' of ridge is missing.");
  CHECK(refusal([] { kNumbers.finite("none"); }) ==
        "none: 'none' of ridge must be finite, not nan.");
  CHECK(refusal([] { kNumbers.positive("scale"); }) ==
        "scale: 'scale' of ridge must be a positive number, not -1.");
  CHECK(refusal([] { kNumbers.positive("off"); }) ==
        "off: 'off' of ridge must be a positive number, not 0.");
  CHECK(refusal([] { kNumbers.flag("shape"); }) ==
        "shape: 'shape' of ridge must be 0 or 1, not 0.5.");
}
