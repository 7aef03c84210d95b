#include "params.hpp"

#include <cmath>
#include <sstream>

#include "error.hpp"

namespace bsvm {

namespace {

[[noreturn]] void refuse(const std::string& component, const std::string& name,
                         const std::string& rule, double found) {
  std::ostringstream message;
  message << "'" << name << "' of " << component << " must be " << rule
          << ", not " << found << ".";
  throw InvalidInput(name, message.str());
}

}  // namespace

double Params::finite(const std::string& name) const {
  const auto it = values_.find(name);
  if (it == values_.end())
    throw InvalidInput(name, "'" + name + "' of " + component_ + " is missing.");
  if (!std::isfinite(it->second)) refuse(component_, name, "finite", it->second);
  return it->second;
}

double Params::positive(const std::string& name) const {
  const double value = finite(name);
  if (!(value > 0)) refuse(component_, name, "a positive number", value);
  return value;
}

double Params::not_negative(const std::string& name) const {
  const double value = finite(name);
  if (!(value >= 0)) refuse(component_, name, "a number that is not negative", value);
  return value;
}

double Params::share(const std::string& name) const {
  const double value = finite(name);
  if (!(value > 0 && value < 1)) refuse(component_, name, "a number between 0 and 1", value);
  return value;
}

bool Params::flag(const std::string& name) const {
  const double value = finite(name);
  if (value != 0 && value != 1) refuse(component_, name, "0 or 1", value);
  return value == 1;
}

Vec Params::positives(const std::string& name) const {
  Index size = 0;
  while (values_.count(name + "_" + std::to_string(size + 1)) > 0) ++size;
  Vec out(size);
  for (Index k = 0; k < size; ++k) out[k] = positive(name + "_" + std::to_string(k + 1));
  return out;
}

Params::Array Params::array(const std::string& name) const {
  const auto it = arrays_.find(name);
  if (it == arrays_.end())
    throw InvalidInput(name, "'" + name + "' of " + component_ + " is missing.");
  return it->second;
}

Vec Params::numbers(const std::string& name) const {
  const Array given = array(name);
  return Eigen::Map<const Vec>(given.data(), given.size());
}

std::vector<Index> Params::indices(const std::string& name) const {
  std::vector<Index> out;
  if (!has(name)) return out;
  const Array given = array(name);
  for (Index k = 0; k < given.size(); ++k) {
    const double number = given.data()[k];
    if (!(number >= 0 && number <= 2147483647.0 && number == std::floor(number)))
      refuse(component_, name, "whole numbers", number);
    out.push_back(static_cast<Index>(number) - 1);
  }
  return out;
}

}  // namespace bsvm
