#pragma once
#include <map>
#include <string>
#include <vector>

#include "types.hpp"

namespace bsvm {

// Named numbers, and arrays, that a component is made from; the checks build the message. Arrays
// look at the caller's memory, which must outlive the component. What is made of components has
// theirs as parts.
class Params {
 public:
  using Array = Eigen::Map<const Mat>;

  Params() = default;
  Params(std::string component, std::map<std::string, double> values,
         std::map<std::string, Array> arrays = {}, std::vector<Params> parts = {})
      : component_(std::move(component)), values_(std::move(values)),
        arrays_(std::move(arrays)), parts_(std::move(parts)) {}

  const std::string& component() const { return component_; }
  const std::vector<Params>& parts() const { return parts_; }

  bool given(const std::string& number) const { return values_.count(number) > 0; }
  double finite(const std::string& name) const;
  double positive(const std::string& name) const;  // finite and above zero
  double not_negative(const std::string& name) const;
  double share(const std::string& name) const;     // between 0 and 1
  bool flag(const std::string& name) const;        // 0 or 1
  Vec positives(const std::string& name) const;    // name_1, name_2, ..., each positive; or none

  bool has(const std::string& array) const { return arrays_.count(array) > 0; }
  Array array(const std::string& name) const;  // of any numbers; a vector is a column
  Vec numbers(const std::string& name) const;  // the same as a vector
  // Whole numbers, counted from 0 where they are given from 1, so that 0 becomes -1; none without
  // such an array.
  std::vector<Index> indices(const std::string& name) const;

 private:
  std::string component_;
  std::map<std::string, double> values_;
  std::map<std::string, Array> arrays_;
  std::vector<Params> parts_;
};

using NamedNumbers = std::vector<std::pair<std::string, double>>;

}  // namespace bsvm
