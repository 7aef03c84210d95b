#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "error.hpp"
#include "params.hpp"

namespace bsvm {

// Name -> maker, one table for each kind of component (Prior, Likelihood,
// Engine). A component is one source file that holds its class and one line
//   const Register<Prior, Ridge> ridge_entry("ridge");
// and nothing else in the project needs to know of it.
template <class Component>
class Registry {
 public:
  using Maker = std::function<std::unique_ptr<Component>(const Params&)>;

  static void add(const std::string& name, Maker maker) {
    table()[name] = std::move(maker);
  }

  static std::unique_ptr<Component> make(const std::string& name,
                                         const Params& params) {
    const auto it = table().find(name);
    if (it == table().end())
      throw InvalidInput(name, "There is no component called '" + name + "'.");
    return it->second(params);
  }

  static std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto& entry : table()) out.push_back(entry.first);
    return out;
  }

 private:
  // A function-local table exists before the first registrar runs.
  static std::map<std::string, Maker>& table() {
    static std::map<std::string, Maker> entries;
    return entries;
  }
};

template <class Component, class Variant>
struct Register {
  explicit Register(const std::string& name) {
    Registry<Component>::add(name, [](const Params& params) {
      return std::unique_ptr<Component>(new Variant(params));
    });
  }
};

// The same where the numbers given decide which class is made.
template <class Component>
struct RegisterMaker {
  RegisterMaker(const std::string& name, typename Registry<Component>::Maker maker) {
    Registry<Component>::add(name, std::move(maker));
  }
};

}  // namespace bsvm
