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
  CHECK(kNumbers.share("shape") == 0.5);
  CHECK(kNumbers.not_negative("off") == 0);
  CHECK(kNumbers.given("shape"));
  CHECK_FALSE(kNumbers.given("df"));
}

TEST_CASE("a number that will not do is refused with its name, the rule and itself") {
  CHECK(refusal([] { kNumbers.finite("df"); }) == "df: 'df' of ridge is missing.");
  CHECK(refusal([] { kNumbers.finite("none"); }) ==
        "none: 'none' of ridge must be finite, not nan.");
  CHECK(refusal([] { kNumbers.positive("scale"); }) ==
        "scale: 'scale' of ridge must be a positive number, not -1.");
  CHECK(refusal([] { kNumbers.not_negative("scale"); }) ==
        "scale: 'scale' of ridge must be a number that is not negative, not -1.");
  CHECK(refusal([] { kNumbers.share("off"); }) ==
        "off: 'off' of ridge must be a number between 0 and 1, not 0.");
  CHECK(refusal([] { kNumbers.share("on"); }) ==
        "on: 'on' of ridge must be a number between 0 and 1, not 1.");
  CHECK(refusal([] { kNumbers.positive("off"); }) ==
        "off: 'off' of ridge must be a positive number, not 0.");
  CHECK(refusal([] { kNumbers.flag("shape"); }) ==
        "shape: 'shape' of ridge must be 0 or 1, not 0.5.");
}

TEST_CASE("numbered numbers are read in their order, up to the first that is missing") {
  const Params numbers("bridge", {{"sigma_1", 3}, {"sigma_2", 1}, {"sigma_3", 2}, {"sigma_5", 9}});
  CHECK(numbers.positives("sigma") == Eigen::Vector3d(3, 1, 2));
  CHECK(numbers.positives("nu").size() == 0);
  const Params bad("bridge", {{"sigma_1", 3}, {"sigma_2", 0}});
  CHECK(refusal([&] { bad.positives("sigma"); }) ==
        "sigma_2: 'sigma_2' of bridge must be a positive number, not 0.");
}

TEST_CASE("arrays are looked at where they are, and whole numbers in them counted from 0") {
  const double values[] = {3, 1, 0, 2.5, 4, 5};
  const Params arrays("latent", {}, {{"matrix", Params::Array(values, 3, 2)},
                                     {"which", Params::Array(values, 3, 1)}});
  CHECK(arrays.has("which"));
  CHECK_FALSE(arrays.has("none"));
  CHECK(arrays.array("matrix").data() == values);
  CHECK(arrays.array("matrix")(0, 1) == 2.5);
  CHECK(arrays.numbers("matrix")[3] == 2.5);
  CHECK(arrays.indices("which") == std::vector<Index>{2, 0, -1});
  CHECK(arrays.indices("none").empty());
  CHECK(refusal([&] { arrays.array("none"); }) == "none: 'none' of latent is missing.");
  CHECK(refusal([&] { arrays.indices("matrix"); }) ==
        "matrix: 'matrix' of latent must be whole numbers, not 2.5.");
}
