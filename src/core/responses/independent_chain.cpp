#include "independent_chain.hpp"

#include <cmath>

#include "normal_draws.hpp"
#include "special/functions.hpp"
#include "starts.hpp"

namespace bsvm {

namespace {

class IndependentChain : public Chain {
 public:
  IndependentChain(const Evidence& evidence, const EvidenceModes& modes, std::uint64_t seed,
                   int chain)
      : evidence_(evidence), modes_(modes), shared_(evidence.shared()), seed_(seed), chain_(chain),
        theta_(modes.best()), weights_(Vec::Constant(2, log_weight(theta_))) {}

  Index sweeps() const override { return sweeps_; }

  // The coefficients are a function of theta and the sweep, so that only those kept are drawn.
  void read(Draw& draw) const override {
    const DrawKey now = key(sweeps_);
    Draws small(now, Purpose::dense, 0), large(now, Purpose::design, 0);
    Evidence::Coefficients drawn = evidence_.draw(theta_, small, large);
    Fit fit(shared_);
    fit.set_small(std::move(drawn.small));
    if (!shared_.spectra.empty()) fit.set_turned(0, std::move(drawn.turned));
    draw.coefficients = draw.expected = as_vector(fit.coefficients());
    const Responses& model = shared_.model;
    Draws unused({seed_, 0, 0}, Purpose::hyper, 0);
    auto parts = start_columns(model, unused);
    Vec sigma = start_residual(model, shared_.rows, unused);
    evidence_.unpack(theta_, parts, sigma);
    std::vector<double> hyper = drawn_of_columns(model, parts);
    add_drawn(*model.residual, sigma, hyper);
    hyper.push_back(weights_[1]);
    draw.hyper = Eigen::Map<const Vec>(hyper.data(), static_cast<Index>(hyper.size()));
    draw.effects.resize(0);
    draw.expected_effects.resize(0);
    draw.unknowns.resize(0);
    draw.law.resize(0);
  }

 private:
  DrawKey key(Index sweep) const {
    return {seed_, static_cast<std::uint32_t>(chain_), static_cast<std::uint64_t>(sweep)};
  }

  double log_weight(const Vec& theta) const {
    try {
      return evidence_.look(theta, false).value - modes_.log_density(theta);
    } catch (const NumericalFailure&) {
      return -1e300;  // beyond doubles there is next to nothing
    }
  }

  void make_sweep(Host& host) override {
    if (host.interrupted()) throw Interrupted();
    Draws random(key(sweeps_ + 1), Purpose::move, 0);
    const Vec proposal = modes_.draw(random);
    weights_[1] = log_weight(proposal);
    if (std::log(random.uniform()) < weights_[1] - weights_[0]) {
      theta_ = proposal;
      weights_[0] = weights_[1];
    }
    ++sweeps_;
  }

  void visit(Archive& archive) override {
    archive.count(sweeps_, kMostSweeps);
    archive.part(theta_);
    archive.part(weights_);
  }

  const Evidence& evidence_;
  const EvidenceModes& modes_;
  const SharedResponses& shared_;
  std::uint64_t seed_;
  int chain_;
  Index sweeps_ = 0;
  Vec theta_;
  Vec weights_;  // log p(y, theta) less its log density as a proposal: here, and of the last one
};

}  // namespace

std::unique_ptr<Chain> make_independent_chain(const Evidence& evidence, const EvidenceModes& modes,
                                              std::uint64_t seed, int chain) {
  return std::unique_ptr<Chain>(new IndependentChain(evidence, modes, seed, chain));
}

}  // namespace bsvm
