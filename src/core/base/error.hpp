#pragma once
#include <stdexcept>
#include <string>

namespace bsvm {

// The caller gave something that cannot be right: which argument, what must
// hold and what was found. The message is a full sentence.
class InvalidInput : public std::invalid_argument {
 public:
  InvalidInput(std::string argument, const std::string& message)
      : std::invalid_argument(message), argument_(std::move(argument)) {}
  const std::string& argument() const { return argument_; }

 private:
  std::string argument_;
};

// The arithmetic gave out: where, at which pass, and what to try.
class NumericalFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void refuse_numbers() {
  throw NumericalFailure("A number became infinite or undefined. Check the scale of predictors, "
                         "offset, weights and priors.");
}

// The host asked a pass over the rows to stop. It never leaves the core: an
// engine ends its run with what it has.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace bsvm
