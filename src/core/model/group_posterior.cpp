#include "group_posterior.hpp"

#include <filesystem>

namespace bsvm {

GroupFile::~GroupFile() {
  std::error_code ignored;
  if (!kept && !path.empty()) std::filesystem::remove(std::filesystem::u8path(path), ignored);
}

}  // namespace bsvm
