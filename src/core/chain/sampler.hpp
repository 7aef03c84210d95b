#pragma once
#include <memory>

#include "archive.hpp"
#include "base/error.hpp"
#include "model/problem.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

// What one draw of a chain is, on the outside scale.
struct Draw {
  Vec coefficients, expected;          // (p) and the mean they were drawn around
  Vec hyper;                           // the drawn hyper-parameters, prior by prior
  Vec effects, expected_effects;       // of all levels: by term, level, effect
  Vec unknowns, law;                   // unknown entries of the design; Latent::drawn()
};

// No chain makes more: a stored number beyond is not one of sweeps.
constexpr Index kMostSweeps = Index{1} << 53;

// One chain. All randomness is keyed by (seed, chain, sweep), so that what it draws does
// not depend on threads, on other chains or on where a run was cut.
class Chain {
 public:
  virtual ~Chain() = default;

  // An error, Interrupted too, leaves it at the last whole sweep.
  void sweep(Host& host) {
    const Vec before = save();
    try {
      make_sweep(host);
    } catch (...) {
      restore(before);
      throw;
    }
  }

  virtual Index sweeps() const = 0;
  virtual void read(Draw& draw) const = 0;
  // What is too large to be kept of each draw (SampleOptions::every); its size never changes.
  virtual void read_seldom(Vec& out) const { out.resize(0); }

  // All it needs to go on, to the bit.
  Vec save() {
    Archive archive;
    visit(archive);
    return archive.written();
  }
  void restore(ConstVecRef saved) {
    if (saved.size() != save().size() || !saved.allFinite())
      throw InvalidInput("checkpoint", "The checkpoint is of another model.");
    Archive archive(saved);
    visit(archive);
  }

 private:
  // Names what that is.
  virtual void visit(Archive& archive) = 0;
  virtual void make_sweep(Host& host) = 0;
};

// Exact draws. It knows no likelihood, prior, block or source by name.
class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual Use use() const = 0;                        // what it asks of the likelihood
  virtual Use prior_use() const { return use(); }     // and of priors

  // Once, before the first chain: what all of them share. The same for any number of threads.
  virtual void prepare(const Problem& /*problem*/, const MakeDraws& /*make_source*/,
                       int /*threads*/, Host& /*host*/) {}

  // It may adapt itself during the first `burnin` sweeps, which are not kept.
  virtual std::unique_ptr<Chain> start(const Problem& problem, const MakeDraws& make_source,
                                       int threads, std::uint64_t seed, int chain,
                                       Index burnin) const = 0;
};

}  // namespace bsvm
