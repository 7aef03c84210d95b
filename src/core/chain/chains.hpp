#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sampler.hpp"

namespace bsvm {

// When chains are long enough: by every parameter of the priors, also as users read it, and
// some coefficients, evenly spread.
constexpr double kEnoughDraws = 400, kEnoughRhat = 1.01;  // of all chains, bulk and tail
constexpr Index kWatched = 50;                            // coefficients
constexpr Index kAll = Index{1} << 53;

// Hyper-parameters from `first` that are the lower triangle, by columns, of a q x q covariance. Users
// read standard deviations and correlations.
struct ShownCovariance {
  Index first, q;
};

struct SampleOptions {
  Index draws = 1000;   // kept, per chain
  Index most = 0;       // if more than `draws`: chains go on until they are long enough, or to here
  Index burnin = 1000;  // sweeps before the first
  Index thin = 1;       // sweeps per kept draw
  int chains = 4;
  int threads = 1;
  bool in_turn = false;  // one chain at a time, each with all threads
  std::uint64_t seed = 0;    // below 2^53
  bool keep_effects = true;  // the draws of the groups' effects, not only mean and sd
  bool keep_unknowns = true;  // likewise of unknown entries
  Index every = 0;           // Chain::read_seldom() is kept of each such draw; 0: of none
  Index identified = kAll;   // of the coefficients the first, which mean the same in all chains
  // Other forms in which the hyper-parameters are shown, and looked at too.
  std::vector<ShownCovariance> covariances;
  std::vector<Index> numbers;  // which of them are parameters of the likelihood
  std::string checkpoint;    // file to write now and then, or none
  bool resume = false;       // go on from that file if it exists
  double interval = 60;      // seconds between two writings
  std::uint64_t fingerprint = 0;  // of data, model and engine
};

// Of so many kept draws, of how many the seldom part is kept, too.
inline Index seldom_of(Index draws, const SampleOptions& options) {
  return options.every > 0 ? draws / options.every : 0;
}

// What a chain has drawn so far; kept draws are the first `kept` columns.
struct ChainDraws {
  Index kept = 0;
  Mat coefficients, hyper, effects;     // (p, draws), (h, draws), (effects or 0, draws)
  Vec mean;                             // (p) of the means they were drawn around
  Vec effect_mean;                      // (effects) likewise
  Vec effect_center, effect_square;     // running mean and squared deviations of the draws
  Mat unknowns;                         // (unknown entries or 0, draws)
  Mat seldom;                           // Chain::read_seldom(), of every so many of them
  Vec unknown_center, unknown_square;   // as of the effects
  Vec law;                              // running mean of Latent::drawn()
};

constexpr Mat ChainDraws::*kDrawn[] = {&ChainDraws::coefficients, &ChainDraws::hyper,
                                       &ChainDraws::effects, &ChainDraws::unknowns};
constexpr Vec ChainDraws::*kSummed[] = {
    &ChainDraws::mean,           &ChainDraws::effect_mean,    &ChainDraws::effect_center,
    &ChainDraws::effect_square,  &ChainDraws::unknown_center, &ChainDraws::unknown_square,
    &ChainDraws::law};

struct SampleResult {
  std::vector<ChainDraws> chains;
  Index kept = 0;           // draws of every chain: the least of them
  bool interrupted = false;
  bool resumed = false;
  std::uint64_t seed = 0;   // the file's where the run was resumed
  std::string unwritten;    // why the last checkpoint could not be written; empty: it was
};

// What starts a chain; all randomness of it is keyed by (seed, chain).
using MakeChain = std::function<std::unique_ptr<Chain>(int threads, std::uint64_t seed, int chain)>;

// Runs the chains side by side on threads, in short rounds, so that an interrupt finds all of
// them about equally far and a checkpoint can be written between two.
SampleResult run_chains(const MakeChain& make, const SampleOptions& options, Host& host);

// Those of a sampler.
SampleResult run_chains(Sampler& sampler, const Problem& problem,
                        const MakeDraws& make_source, const SampleOptions& options,
                        Host& host);

}  // namespace bsvm
