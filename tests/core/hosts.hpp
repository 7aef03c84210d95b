#pragma once
#include "base/host.hpp"

namespace bsvm_test {

// Interrupts at the call after `patience` calls, and from then on.
class ImpatientHost : public bsvm::Host {
 public:
  explicit ImpatientHost(int patience) : patience_(patience) {}
  bool interrupted() override { return ++calls > patience_; }
  int calls = 0;

 private:
  int patience_;
};

}  // namespace bsvm_test
