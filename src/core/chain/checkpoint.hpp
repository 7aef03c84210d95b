#pragma once
#include "chains.hpp"

namespace bsvm {

// A run between two rounds, in a file of our own: a header (format, fingerprint, settings,
// seed), every chain's state and draws, a checksum. Written beside the old one and then renamed,
// so that whenever the program ends there is a whole one.
struct Saved {
  std::uint64_t seed = 0;
  std::vector<Vec> states;          // Chain::save() of each
  std::vector<ChainDraws> draws;
};

// Writes a run as it stands; `draws` are looked at, not copied.
void write_checkpoint(std::uint64_t seed, const std::vector<Vec>& states,
                      const std::vector<const ChainDraws*>& draws,
                      const SampleOptions& options);

// Throws InvalidInput("checkpoint", ...) unless the file is whole and of the same data, model
// and settings (more or fewer draws may be asked for).
Saved read_checkpoint(const SampleOptions& options);

// Throws likewise if no file can be made beside it.
void check_writable(const std::string& path);

bool file_exists(const std::string& path);

}  // namespace bsvm
