#pragma once
#include <map>
#include <string>
#include <vector>

#include "types.hpp"

namespace bsvm {

// Named numbers that a component is made from; the checks build the message.
class Params {
 public:
  Params() = default;
  Params(std::string component, std::map<std::string, double> values)
      : component_(std::move(component)), values_(std::move(values)) {}

  double finite(const std::string& name) const;
  double positive(const std::string& name) const;  // finite and above zero
  bool flag(const std::string& name) const;        // 0 or 1
  Vec positives(const std::string& name) const;    // name_1, name_2, ..., each positive; or none

 private:
  std::string component_;
  std::map<std::string, double> values_;
};

using NamedNumbers = std::vector<std::pair<std::string, double>>;

}  // namespace bsvm
