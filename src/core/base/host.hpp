#pragma once
#include <string>

namespace bsvm {

// All the core knows of the program it runs in. Called from the thread that
// started the run and from no other.
class Host {
 public:
  virtual ~Host() = default;
  virtual bool interrupted() { return false; }
  virtual void progress(const std::string& /*text*/) {}
  virtual void file_done() {}  // of the rows of a pass
};

}  // namespace bsvm
