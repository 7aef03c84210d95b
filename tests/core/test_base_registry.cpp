#include <doctest/doctest.h>

#include <algorithm>

#include "likelihood/likelihood.hpp"
#include "prior/prior.hpp"
#include "variational/engine.hpp"

using namespace bsvm;

namespace {

template <class Component>
bool knows(const std::string& name) {
  const std::vector<std::string> names = Registry<Component>::names();
  return std::count(names.begin(), names.end(), name) == 1;
}

struct Thing {
  virtual ~Thing() = default;
};
struct Plain : Thing {
  explicit Plain(const Params& params) : size(params.positive("size")) {}
  double size;
};

}  // namespace

TEST_CASE("components have registered themselves") {
  for (const char* name : {"normal", "ridge", "half_t"}) CHECK(knows<Prior>(name));
  CHECK(knows<Likelihood>("hinge"));
  CHECK(knows<Engine>("vb"));
}

TEST_CASE("one line makes a component known by its name") {
  CHECK_FALSE(knows<Thing>("plain"));
  const Register<Thing, Plain> entry("plain");
  CHECK(knows<Thing>("plain"));
  const auto made = Registry<Thing>::make("plain", Params("plain", {{"size", 3}}));
  CHECK(dynamic_cast<Plain&>(*made).size == 3);
  CHECK_THROWS_AS(Registry<Thing>::make("plain", Params()), InvalidInput);
}

TEST_CASE("numbers may decide which class is made") {
  const RegisterMaker<Thing> entry("either", [](const Params& params) {
    return params.given("size") ? std::make_unique<Plain>(params) : std::make_unique<Thing>();
  });
  const auto plain = Registry<Thing>::make("either", Params("either", {{"size", 3}}));
  CHECK(dynamic_cast<Plain*>(plain.get()) != nullptr);
  CHECK(dynamic_cast<Plain*>(Registry<Thing>::make("either", Params()).get()) == nullptr);
}

TEST_CASE("an unknown name is refused with that name") {
  try {
    Registry<Prior>::make("horse", Params());
    FAIL("there is no such prior");
  } catch (const InvalidInput& error) {
    CHECK(error.argument() == "horse");
    CHECK(std::string(error.what()) == "There is no component called 'horse'.");
  }
}
