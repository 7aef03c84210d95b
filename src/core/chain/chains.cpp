#include "chains.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "checkpoint.hpp"
#include "coefficients/coefficients.hpp"
#include "diagnosis.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

namespace {

// Chains of so many draws end if half as many again as the most there may be would be too few.
constexpr double kLook = 1000, kFar = 1.5;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A lane's view of the host: any thread may ask it, and it reports no progress.
class LaneHost : public Host {
 public:
  explicit LaneHost(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}
  bool interrupted() override {
    try {
      checkpoint_();
    } catch (const Interrupted&) {
      return true;
    }
    return false;
  }

 private:
  const Checkpoint& checkpoint_;
};

// A chain and where its draws go. All memory is taken before the first sweep.
class Recorder {
 public:
  Recorder(std::unique_ptr<Chain> chain, const SampleOptions& options)
      : chain_(std::move(chain)), options_(options), room_(options.draws) {
    chain_->read(draw_);
    ChainDraws& d = draws_;
    d.coefficients.resize(draw_.coefficients.size(), options.draws);
    d.hyper.resize(draw_.hyper.size(), options.draws);
    d.effects.resize(options.keep_effects ? draw_.effects.size() : 0, options.draws);
    d.mean = Vec::Zero(draw_.coefficients.size());
    d.unknowns.resize(options.keep_unknowns ? draw_.unknowns.size() : 0, options.draws);
    for (Vec* v : {&d.effect_mean, &d.effect_center, &d.effect_square})
      *v = Vec::Zero(draw_.effects.size());
    for (Vec* v : {&d.unknown_center, &d.unknown_square}) *v = Vec::Zero(draw_.unknowns.size());
    d.law = Vec::Zero(draw_.law.size());
    if (options.every > 0) {
      chain_->read_seldom(seldom_);
      d.seldom.resize(seldom_.size(), seldom_of(options.draws, options));
    }
  }

  Index sweeps() const { return chain_->sweeps(); }
  Vec save() const { return chain_->save(); }
  ChainDraws& draws() { return draws_; }

  void restore(const Vec& state, ChainDraws draws) {
    chain_->restore(state);
    if (!fits(draws))
      throw InvalidInput("checkpoint", "The checkpoint is of another model, or damaged.");
    room_ = std::max(draws.kept, room_);
    for (const auto part : kDrawn)
      (draws.*part).conservativeResize((draws.*part).rows(), room_);
    draws.seldom.conservativeResize(draws.seldom.rows(), seldom_of(room_, options_));
    draws_ = std::move(draws);
  }

  void grow(Index draws) {
    if (draws <= room_) return;
    room_ = draws;
    for (const auto part : kDrawn)
      (draws_.*part).conservativeResize((draws_.*part).rows(), draws);
    draws_.seldom.conservativeResize(draws_.seldom.rows(), seldom_of(draws, options_));
  }

  // Sweeps until `target` have been made.
  void advance(Index target, Host& host) {
    while (chain_->sweeps() < target) {
      if (host.interrupted()) throw Interrupted();
      chain_->sweep(host);
      const Index after = chain_->sweeps() - options_.burnin;
      if (after > 0 && after % options_.thin == 0 && draws_.kept < room_) keep();
    }
  }

 private:
  void keep() {
    chain_->read(draw_);
    ChainDraws& d = draws_;
    d.coefficients.col(d.kept) = draw_.coefficients;
    d.hyper.col(d.kept) = draw_.hyper;
    if (options_.keep_effects) d.effects.col(d.kept) = draw_.effects;
    const double share = 1.0 / static_cast<double>(++d.kept);
    d.mean += share * (draw_.expected - d.mean);
    d.effect_mean += share * (draw_.expected_effects - d.effect_mean);
    if (options_.keep_unknowns) d.unknowns.col(d.kept - 1) = draw_.unknowns;
    d.law += share * (draw_.law - d.law);
    follow(draw_.effects, share, d.effect_center, d.effect_square);
    follow(draw_.unknowns, share, d.unknown_center, d.unknown_square);
    if (options_.every == 0 || d.kept % options_.every != 0) return;
    chain_->read_seldom(seldom_);
    d.seldom.col(d.kept / options_.every - 1) = seldom_;
  }

  static void follow(const Vec& draw, double share, Vec& center, Vec& square) {
    const Vec away = draw - center;
    center += share * away;
    square += away.cwiseProduct(draw - center);
  }

  // Are these as many draws of as many numbers as this chain would have by now?
  bool fits(const ChainDraws& d) const {
    bool good = d.kept == std::max<Index>(0, chain_->sweeps() - options_.burnin) / options_.thin;
    for (const auto part : kDrawn)
      good = good && (d.*part).rows() == (draws_.*part).rows();
    for (const auto part : kSummed)
      good = good && (d.*part).size() == (draws_.*part).size();
    good = good && d.seldom.rows() == draws_.seldom.rows();
    return good;
  }

  std::unique_ptr<Chain> chain_;
  const SampleOptions& options_;
  Index room_;  // for how many draws
  ChainDraws draws_;
  Draw draw_;
  Vec seldom_;
};

class Run {
 public:
  Run(const MakeChain& make, const SampleOptions& options, Host& host)
      : options_(options), host_(host), draws_(options.draws) {
    Saved saved = former();
    resumed_ = !saved.states.empty();
    seed_ = resumed_ ? saved.seed : options.seed;
    if (options.in_turn) length_ = 1;
    const int threads = options.in_turn ? options.threads
                                        : std::max(1, options.threads / options.chains);
    for (int k = 0; k < options.chains; ++k) {
      chains_.emplace_back(new Recorder(make(threads, seed_, k), options));
      if (resumed_) chains_.back()->restore(saved.states[k], std::move(saved.draws[k]));
    }
  }

  SampleResult result() {
    SampleResult out;
    out.resumed = resumed_;
    out.seed = seed_;
    try {
      do
        while (done() < total()) round();
      while (go_on());
    } catch (const Interrupted&) {
      out.interrupted = true;
    } catch (...) {  // what chains have is not lost with a worker
      if (!options_.checkpoint.empty()) write();
      throw;
    }
    if (!options_.checkpoint.empty()) write();
    out.unwritten = unwritten_;
    out.kept = draws_;
    for (const auto& chain : chains_) out.kept = std::min(out.kept, chain->draws().kept);
    for (const auto& chain : chains_) out.chains.push_back(std::move(chain->draws()));
    return out;
  }

 private:
  Saved former() const {
    if (options_.checkpoint.empty()) return Saved();
    check_writable(options_.checkpoint);
    if (!file_exists(options_.checkpoint)) return Saved();
    if (options_.resume) return read_checkpoint(options_);
    throw InvalidInput("checkpoint",
                       "The checkpoint file exists already: go on from it with resume = TRUE, "
                       "or name another one.");
  }

  Index total() const { return options_.burnin + draws_ * options_.thin; }

  // How many draws chains get next, which depends on those there are and nothing else: a run that
  // was cut comes by the same numbers again. False where they have enough, or where even the most
  // there may be would not do.
  bool go_on() {
    if (draws_ >= options_.most) return false;
    const double share = worst();
    if (share <= 1) return false;
    const double now = static_cast<double>(draws_), most = static_cast<double>(options_.most);
    if (now >= kLook && share * now > kFar * most) return false;
    const double next = now * std::min(std::max(1.1 * share, 1.25), 2.0);
    draws_ = std::min(options_.most, static_cast<Index>(std::ceil(next / 50)) * 50);
    for (const auto& chain : chains_) chain->grow(draws_);
    return true;
  }

  // The largest ratio of draws needed to draws there are; what does not vary needs none.
  double worst() const {
    double out = 0;
    const auto look = [&](const Mat& draws) {
      if (draws.allFinite() && !varies(draws)) return;
      const Diagnosis seen = diagnose(draws);
      const double size = std::min(seen.bulk, seen.tail);
      if (!(size > 0)) out = std::max(out, 2.0);
      else out = std::max(out, kEnoughDraws / size);
      if (!(seen.rhat <= kEnoughRhat)) out = std::max(out, 1.5);
    };
    const ChainDraws& first = chains_[0]->draws();
    for (Index k = 0; k < first.hyper.rows(); ++k) look(all(&ChainDraws::hyper, k));
    for (const ShownCovariance& of : options_.covariances) look_at(of, look);
    // Rhat of distances from the median depends on the form. Some numbers are shown as logarithms or
    // shares.
    for (const Index k : options_.numbers) {
      const Mat number = all(&ChainDraws::hyper, k).cwiseSqrt();
      look(number.array().log());
      look((1 + number.array()).inverse());
    }
    const Index p = std::min(first.coefficients.rows(), options_.identified);
    const Index few = std::min(p, kWatched);
    for (Index k = 0; k < few; ++k)
      look(all(&ChainDraws::coefficients,
               few == 1 ? 0 : static_cast<Index>(std::nearbyint(static_cast<double>(k * (p - 1)) /
                                                                static_cast<double>(few - 1)))));
    return out;
  }

  // A row of what was drawn: (draws, chains).
  Mat all(Mat ChainDraws::*part, Index row) const {
    Mat out(draws_, static_cast<Index>(chains_.size()));
    for (Index k = 0; k < out.cols(); ++k)
      out.col(k) = (chains_[k]->draws().*part).row(row).head(draws_);
    return out;
  }

  // Standard deviations and correlations.
  void look_at(const ShownCovariance& of, const std::function<void(const Mat&)>& look) const {
    const auto at = [&](Index i, Index j) {
      return all(&ChainDraws::hyper, of.first + i + j * of.q - j * (j + 1) / 2);
    };
    std::vector<Mat> sd;
    for (Index i = 0; i < of.q; ++i) {
      sd.push_back(at(i, i).cwiseSqrt());
      look(sd[i]);
      for (Index j = 0; j < i; ++j)
        look(at(i, j).array() / (sd[i].array() * sd[j].array()));
    }
  }

  Index done() const {
    Index least = total();
    for (const auto& chain : chains_) least = std::min(least, chain->sweeps());
    return least;
  }

  // About a quarter of a second's sweeps of every chain.
  void round() {
    const Index target = std::min(total(), done() + length_);
    const Clock::time_point start = Clock::now();
    run_lanes(options_.chains, options_.in_turn ? 1 : options_.threads, host_,
              [&](Index lane, int, const Checkpoint& checkpoint) {
      LaneHost host(checkpoint);
      chains_[lane]->advance(target, host);
    });
    const double spent = seconds_since(start);
    swept_ += length_;
    if (spent < 0.1) length_ = 2 * length_;
    else if (spent > 0.5) length_ = std::max<Index>(1, length_ / 2);
    tell();
    // Writing takes a twentieth of the time at most.
    const double interval = std::max(options_.interval, 20 * writing_);
    if (!options_.checkpoint.empty() && seconds_since(written_) >= interval) write();
  }

  void tell() const {
    const Index now = done();
    std::ostringstream text;
    text << "iteration " << now << " of " << total() << (options_.chains > 1 ? " of each chain" : "")
         << (now < options_.burnin ? " (burn-in)" : "");
    // A resumed run has fewer sweeps to do than there are.
    const double mine = static_cast<double>(swept_);
    bsvm::tell(host_, text.str(), mine / (mine + static_cast<double>(total() - now)));
  }

  // A file that can't be written costs no draw: the run goes on and says so at its end.
  void write() {
    const Clock::time_point start = Clock::now();
    std::vector<Vec> states;
    std::vector<const ChainDraws*> draws;
    for (const auto& chain : chains_) {
      states.push_back(chain->save());
      draws.push_back(&chain->draws());
    }
    try {
      write_checkpoint(seed_, states, draws, options_);
      unwritten_.clear();
    } catch (const InvalidInput& error) {
      unwritten_ = error.what();
      host_.progress(unwritten_);
    }
    written_ = Clock::now();
    writing_ = seconds_since(start);
  }

  const SampleOptions& options_;
  Host& host_;
  Index draws_;  // that chains get
  Index length_ = 8, swept_ = 0;
  bool resumed_ = false;
  std::uint64_t seed_ = 0;
  double writing_ = 0;  // seconds the last checkpoint took
  std::string unwritten_;
  std::vector<std::unique_ptr<Recorder>> chains_;
  Clock::time_point started_ = Clock::now(), written_ = started_;
};

void check(const SampleOptions& options) {
  const auto need = [](bool holds, const char* name, const char* rule) {
    if (!holds) throw InvalidInput(name, std::string("'") + name + "' must be " + rule + ".");
  };
  need(options.draws >= 1, "draws", "at least 1");
  need(options.burnin >= 0, "burnin", "at least 0");
  need(options.thin >= 1, "thin", "at least 1");
  need(options.chains >= 1 && options.chains < (1 << 16), "chains", "1 to 65535");
  need(static_cast<double>(options.draws) * static_cast<double>(options.thin) +
               static_cast<double>(options.burnin) < 0x1p44,
       "draws", "fewer iterations than 2^44");
  need(options.every >= 0, "every", "at least 0");
  need(options.identified >= 0, "identified", "at least 0");
  need(options.threads >= 1, "threads", "at least 1");
  need(options.seed < (std::uint64_t{1} << 53), "seed", "below 2^53");
}

}  // namespace

SampleResult run_chains(const MakeChain& make, const SampleOptions& options, Host& host) {
  check(options);
  return Run(make, options, host).result();
}

namespace {

// What users read of the groups' effects and of parameters of the likelihood.
void add_shown(const Problem& problem, SampleOptions& options) {
  const Coefficients side(problem, 0, false);
  const State state = side.start(Vec());
  Index first = 0;
  for (const PriorPart& part : side.parts()) {
    const Index rows = static_cast<Index>(part.slot.prior->drawn(side.hyper(state, part)).size());
    const Index q = part.slot.prior->effects();
    for (Index k = 0; (part.group || part.parameter()) && k < rows; k += q * (q + 1) / 2) {
      options.covariances.push_back({first + k, q});
      if (part.parameter()) options.numbers.push_back(first + k);
    }
    first += rows;
  }
}

}  // namespace

SampleResult run_chains(Sampler& sampler, const Problem& problem,
                        const MakeDraws& make_source, const SampleOptions& given,
                        Host& host) {
  SampleOptions options = given;
  add_shown(problem, options);
  const auto make = [&](int threads, std::uint64_t seed, int chain) {
    if (chain == 0) sampler.prepare(problem, make_source, options.threads, host);
    return sampler.start(problem, make_source, threads, seed, chain, options.burnin);
  };
  return run_chains(make, options, host);
}

}  // namespace bsvm
