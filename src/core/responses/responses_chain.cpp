#include "responses_chain.hpp"

#include <cmath>

#include "choice.hpp"
#include "covariance.hpp"
#include "fit.hpp"
#include "latent_layer.hpp"
#include "normal_draws.hpp"
#include "settling.hpp"
#include "spectrum_slices.hpp"
#include "starts.hpp"

namespace bsvm {

namespace {

// With more columns of a spectrum than this share of the rows the residual variances are drawn
// with its coefficients integrated out, too.
constexpr double kFlexible = 0.25;
// Levels whose sums are made at once.
constexpr Index kLevels = 512;

class ResponsesChain : public Chain {
 public:
  ResponsesChain(const SharedResponses& shared, std::uint64_t seed, int chain)
      : ResponsesChain(shared, seed, chain,
                       Draws({seed, static_cast<std::uint32_t>(chain), 0}, Purpose::hyper, 0)) {}

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    draw.coefficients = draw.expected = as_vector(fit_.coefficients());
    std::vector<double> hyper = drawn_of_columns(model_, hyper_);
    for (size_t f = 0; f < psi_.size(); ++f) add_drawn(*model_.factors[f].prior, psi_[f], hyper);
    add_drawn(sigma_.prior(), sigma_.hyper(), hyper);
    latent_.read(hyper);
    for (size_t k = 0; k < chosen_.size(); ++k)
      if (!model_.parts[k].choices.empty()) hyper.push_back(static_cast<double>(chosen_[k]));
    draw.hyper = Eigen::Map<const Vec>(hyper.data(), static_cast<Index>(hyper.size()));
    draw.effects = draw.expected_effects = fit_.all_effects();
    draw.unknowns = fit_.missing();
    draw.law.resize(0);
  }

 private:
  // `random` is used in the order of the members.
  ResponsesChain(const SharedResponses& shared, std::uint64_t seed, int chain, Draws random)
      : shared_(shared), model_(shared.model), seed_(seed), chain_(chain), fit_(shared),
        hyper_(start_columns(model_, random)), psi_(start_factors(model_, random)),
        latent_(model_, random),
        sigma_(*model_.residual, start_residual(model_, shared.rows, random)),
        chosen_(start_choices(model_, random)),
        settling_(model_) {}

  Index q() const { return model_.q(); }
  Index small() const { return fit_.small().rows(); }
  // Places among the small columns of those of a part that are in the model.
  const std::vector<Index>& places(size_t part) const {
    return shared_.places[part][static_cast<size_t>(chosen_[part])];
  }
  const Prior& prior_of(size_t part, Index j) const {
    return *model_.parts[part].priors[static_cast<size_t>(j)];
  }

  void make_sweep(Host& host) override {
    const DrawKey now{seed_, static_cast<std::uint32_t>(chain_),
                      static_cast<std::uint64_t>(sweeps_ + 1)};
    if (latent_.any()) {
      const Mat f = fit_.y() - fit_.residuals();
      latent_.draw(shared_.y, f, now, sigma_, fit_.y());
    } else {
      impute(now);
    }
    for (const std::vector<size_t>& block : shared_.blocks) {
      if (host.interrupted()) throw Interrupted();
      draw_spectrum(block.size() > 1 ? choose(block, now) : block[0], now);
    }
    for (size_t f = 0; f < model_.factors.size(); ++f) draw_factor(f, now);
    if (shared_.chosen >= 0) draw_chosen(now);
    else if (shared_.spectra.empty() && model_.factors.empty()) draw_small(now);
    else if (!shared_.joint) draw_by_response(now);
    draw_hyper(now);
    ++sweeps_;
  }

  // Missing given seen: of e ~ N(0, Lambda^{-1}), e_m given e_o is N(-Lambda_mm^{-1} Lambda_mo e_o,
  // Lambda_mm^{-1}).
  void impute(const DrawKey& now) {
    if (shared_.incomplete.empty()) return;
    const Mat e = fit_.residuals(), &lambda = sigma_.inverse();
    for (const Index i : shared_.incomplete) {
      Draws random(now, Purpose::unknown, static_cast<std::uint64_t>(i));
      std::vector<Index> absent, seen;
      for (Index j = 0; j < q(); ++j)
        (std::isnan(shared_.y(i, j)) ? absent : seen).push_back(j);
      const Index m = static_cast<Index>(absent.size());
      Mat precision(m, m);
      Vec linear = Vec::Zero(m);
      for (Index a = 0; a < m; ++a) {
        for (Index b = 0; b < m; ++b) precision(a, b) = lambda(absent[a], absent[b]);
        for (const Index j : seen) linear[a] -= lambda(absent[a], j) * e(i, j);
      }
      const Vec drawn = draw_normal(precision, linear, random);
      for (Index a = 0; a < m; ++a) fit_.y()(i, absent[a]) += drawn[a] - e(i, absent[a]);
    }
  }

  // ---- small columns ---------------------------------------------------------------------------

  // Prior precisions of their coefficients, (small, q).
  Mat small_precision() const {
    Mat out(small(), q());
    for (size_t k = 0; k < hyper_.size(); ++k) {
      Vec own(static_cast<Index>(shared_.places[k][0].size()));
      if (own.size() == 0) continue;
      for (Index j = 0; j < q(); ++j) {
        prior_of(k, j).precision(hyper_[k][static_cast<size_t>(j)], own);
        for (const std::vector<Index>& set : shared_.places[k])
          for (Index a = 0; a < own.size(); ++a) out(set[static_cast<size_t>(a)], j) = own[a];
      }
    }
    return out;
  }

  void draw_jointly(Mat precision, const Vec& linear, const DrawKey& now, std::uint64_t index) {
    precision.diagonal() += as_vector(small_precision());
    Draws random(now, Purpose::dense, index);
    const Vec drawn = draw_normal(precision, linear, random);
    fit_.set_small(Eigen::Map<const Mat>(drawn.data(), small(), q()));
  }

  // Without large blocks and factors. Where a coefficient's prior is the same for all responses,
  // Lambda = Q diag(lambda) Q' makes the columns of B Q independent.
  void draw_small(const DrawKey& now) {
    if (small() == 0) return;
    const Mat prior = small_precision(), linear = fit_.beside_small() * sigma_.inverse();
    const Mat apart = (prior.array().colwise() / prior.col(0).array() - 1).matrix();
    if (!(apart.cwiseAbs().maxCoeff() < 1e-12)) {
      if (!shared_.joint) return draw_by_response(now);
      Mat precision = Mat::Zero(small() * q(), small() * q());
      add_kron(sigma_.inverse(), shared_.ss, precision);
      return draw_jointly(std::move(precision), as_vector(linear), now, 0);
    }
    const SymmetricEigen eigen(sigma_.inverse());
    const Mat turned = linear * eigen.vectors;
    Mat b(small(), q());
    for (Index l = 0; l < q(); ++l) {
      Mat precision = eigen.values[l] * shared_.ss;
      precision.diagonal() += prior.col(0);
      Draws random(now, Purpose::dense, static_cast<std::uint64_t>(l));
      b.col(l) = draw_normal(precision, turned.col(l), random);
    }
    fit_.set_small(b * eigen.vectors.transpose());
  }

  // Another set of columns is proposed with all coefficients integrated out, and accepted or not;
  // then the coefficients are drawn. The prior's determinants are the same.
  void draw_chosen(const DrawKey& now) {
    const size_t part = static_cast<size_t>(shared_.chosen);
    const Mat prior = small_precision(), linear = fit_.beside_small() * sigma_.inverse();
    Draws random(now, Purpose::move, std::uint64_t{2} << 32);
    const Index count = static_cast<Index>(shared_.places[part].size());
    const Index step = 1 + static_cast<Index>(static_cast<double>(count - 1) * random.uniform());
    const Index there = (chosen_[part] + step) % count;
    WithSet own = with_set(shared_, chosen_[part], prior, linear, sigma_.inverse());
    WithSet other = with_set(shared_, there, prior, linear, sigma_.inverse());
    if (std::log(random.uniform()) < other.log_evidence - own.log_evidence) {
      chosen_[part] = there;
      own = std::move(other);
    }
    Draws noise(now, Purpose::dense, 0);
    fit_.set_small(draw_coefficients(own, small(), q(), noise));
  }

  // Each response's given the others'.
  void draw_by_response(const DrawKey& now) {
    if (small() == 0) return;
    const Mat prior = small_precision(), sr = fit_.beside_small(), &lambda = sigma_.inverse();
    Mat b = fit_.small();
    for (Index j = 0; j < q(); ++j) {
      const Vec others = b * lambda.col(j) - b.col(j) * lambda(j, j);
      Mat precision = lambda(j, j) * shared_.ss;
      precision.diagonal() += prior.col(j);
      Draws random(now, Purpose::dense, static_cast<std::uint64_t>(j));
      b.col(j) = draw_normal(precision, sr * lambda.col(j) - shared_.ss * others, random);
    }
    fit_.set_small(b);
  }

  // ---- large blocks ----------------------------------------------------------------------------

  // The spectrum of the set of columns that is in the model, of a block with several.
  size_t choose(const std::vector<size_t>& block, const DrawKey& now) {
    const size_t part = static_cast<size_t>(shared_.spectra[block[0]].part);
    const size_t before = block[static_cast<size_t>(chosen_[part])];
    Draws random(now, Purpose::move, (std::uint64_t{3} << 32) + part);
    const SetLattice lattice(shared_, block, fit_.rest(before) - shared_.s * fit_.small(),
                             latent_, settling_.draws(sweeps_));
    chosen_[part] = lattice.draw(chosen_[part], random, hyper_[part], sigma_);
    const size_t after = block[static_cast<size_t>(chosen_[part])];
    if (after != before)
      fit_.set_turned(before, Mat::Zero(shared_.spectra[before].e.size(), q()));
    return after;
  }

  void draw_spectrum(size_t k, const DrawKey& now) {
    const Spectrum& own = shared_.spectra[k];
    const Fit::BlockSums sums = fit_.beside_spectrum(k);
    const Mat& b = fit_.small();
    const Mat sb = sums.sr.transpose() * b, left = sums.hr - own.hs * b;
    const size_t part = static_cast<size_t>(own.part);
    Vec variance = variances(own, model_.parts[part], hyper_[part]);
    if (static_cast<double>(own.e.size()) > kFlexible * shared_.rows)
      stretch_residuals(own, k, left,
                        sums.rr - sb - sb.transpose() + b.transpose() * shared_.ss * b,
                        shared_.rows, variance, latent_, now, sigma_);
    if (settling_.draws(sweeps_))
      slide_variances(own, model_.parts[part], left, sigma_.root(), now, hyper_[part], variance);
    const Together both(sigma_.root(), variance);
    if (shared_.joint && small() > 0) {
      SmallSystem system = small_system(own, shared_.ss, sums.hr, sums.sr, both);
      draw_jointly(std::move(system.precision), as_vector(system.linear), now, 1 + k);
    }
    Draws random(now, Purpose::design, k);
    Mat turned = draw_turned(own, sums.hr - own.hs * fit_.small(), both, random);
    for (Index j = 0; j < q() && !settling_.draws(sweeps_); ++j)
      settle(part, j, Vec::Constant(1, turned.col(j).squaredNorm()), own.columns.size());
    fit_.set_turned(k, std::move(turned));
  }

  // ---- factors ---------------------------------------------------------------------------------

  // A factor's effects, and with them the small columns' coefficients: these with the effects
  // integrated out first. Of a level, with C = kron(Lambda, Z'S) and P = Psi^{-1} + kron(Lambda,
  // Z'Z): precision kron(Lambda, S'S) - sum C'P^{-1}C, linear part vec(S'R Lambda) - sum C'P^{-1}
  // vec(Z'R Lambda).
  void draw_factor(size_t f, const DrawKey& now) {
    const LevelPart& factor = model_.factors[f];
    const Index each = factor.effects() * q();
    const Fit::LevelSums sums = fit_.beside_factor(f);
    const Mat& lambda = sigma_.inverse();
    Vec prior(each * each);
    factor.prior->precision(psi_[f], prior);
    std::vector<Mat> roots(static_cast<size_t>(factor.levels));
    const bool joint = shared_.joint && small() > 0;
    Mat precision = Mat::Zero(joint ? small() * q() : 0, joint ? small() * q() : 0);
    Vec linear = Vec::Zero(precision.rows());
    if (joint) {
      add_kron(lambda, shared_.ss, precision);
      linear = as_vector(sums.sr * lambda);
    }
    // L^{-1} C and L^{-1} vec(Z'R Lambda) of some levels at a time, so that their sums are products
    const Index some = joint ? std::min<Index>(factor.levels, kLevels) : 0;
    Mat c(some * each, precision.cols());
    Vec v(some * each);
    for (size_t l = 0; l < roots.size(); ++l) {
      Mat own = Eigen::Map<const Mat>(prior.data(), each, each);
      add_kron(lambda, shared_.zz[f][l], own);
      roots[l] = positive_factor(own).lower();
      if (!joint) continue;
      const Index place = static_cast<Index>(l) % some, rows = (place + 1) * each;
      auto own_c = c.middleRows(place * each, each);
      own_c.setZero();
      add_kron(lambda, shared_.zs[f][l], own_c);
      solve_lower(roots[l], own_c);
      v.segment(place * each, each) = solved_lower(roots[l], as_vector(sums.zr[l] * lambda));
      if (place + 1 < some && l + 1 < roots.size()) continue;
      precision.noalias() -= c.topRows(rows).transpose() * c.topRows(rows);
      linear.noalias() -= c.topRows(rows).transpose() * v.head(rows);
    }
    if (joint) draw_jointly(std::move(precision), linear, now, (std::uint64_t{1} << 20) + f);
    const Mat& b = fit_.small();
    for (size_t l = 0; l < roots.size(); ++l) {
      Draws random(now, Purpose::groups, (static_cast<std::uint64_t>(f) << 32) + l);
      Vec u = solved_lower(roots[l], as_vector((sums.zr[l] - shared_.zs[f][l] * b) * lambda));
      for (Index a = 0; a < each; ++a) u[a] += random.normal();
      solve_transposed(roots[l], u);
      fit_.set_effects(f, static_cast<Index>(l), u);
    }
    fit_.effects_are_set(f);
  }

  // ---- hyper-parameters ------------------------------------------------------------------------

  void draw_hyper(const DrawKey& now) {
    for (size_t k = 0; k < hyper_.size(); ++k) {
      const std::vector<Index>& own = places(k);
      if (own.empty()) continue;
      for (Index j = 0; j < q(); ++j) {
        Vec square(static_cast<Index>(own.size()));
        for (Index a = 0; a < square.size(); ++a)
          square[a] = std::pow(fit_.small()(own[static_cast<size_t>(a)], j), 2);
        if (!settling_.draws(sweeps_)) {
          settle(k, j, std::move(square), own.size());
          continue;
        }
        const Moments moments = moments_of(k, std::move(square), own.size());
        Draws random(now, Purpose::hyper, k * static_cast<size_t>(q()) + static_cast<size_t>(j));
        prior_of(k, j).draw(moments, random, hyper_[k][static_cast<size_t>(j)]);
      }
    }
    for (size_t f = 0; f < psi_.size(); ++f) {
      Draws random(now, Purpose::hyper, (std::uint64_t{1} << 32) + f);
      const Mat& u = fit_.effects(f);
      model_.factors[f].prior->draw(
          joint_moments(u * u.transpose(), static_cast<double>(u.cols())), random, psi_[f]);
    }
    draw_sigma(now);
  }

  // Of so many coefficients that are in the model.
  Moments moments_of(size_t part, Vec square, size_t columns) const {
    Moments out;
    out.square = std::move(square);
    out.unseen = model_.parts[part].unseen;
    out.count = static_cast<double>(columns) + out.unseen;
    return out;
  }

  void settle(size_t part, Index j, Vec square, size_t columns) {
    settling_.average(sweeps_, part, j, moments_of(part, std::move(square), columns),
                      hyper_[part][static_cast<size_t>(j)]);
  }

  // With a latent layer a proposal, since the losses' priors depend on Sigma; what Sigma's prior
  // integrates out it draws anew before it is used.
  void draw_sigma(const DrawKey& now) {
    Draws random(now, Purpose::hyper, std::uint64_t{1} << 33);
    const Vec before = sigma_.hyper();
    const double here = latent_.log_prior(sigma_.root());
    sigma_.draw(fit_.residual_squares(), shared_.rows, random);
    if (latent_.any() &&
        std::log(random.uniform()) > latent_.log_prior(sigma_.root()) - here)
      sigma_.restore(before);
  }

  void visit(Archive& archive) override {
    archive.count(sweeps_, kMostSweeps);
    for (auto& part : hyper_)
      for (Vec& own : part) archive.part(own);
    for (Vec& own : psi_) archive.part(own);
    archive.part(sigma_.hyper(), [&](ConstVecRef saved) { sigma_.restore(saved); });
    latent_.visit(archive);
    for (size_t k = 0; k < chosen_.size(); ++k) {
      const Index sets = static_cast<Index>(model_.parts[k].choices.size());
      if (sets > 0) archive.count(chosen_[k], sets - 1);
    }
    for (auto& part : settling_.squares())
      for (Vec& average : part) archive.part(average);
    fit_.visit(archive, latent_.any());
  }

  const SharedResponses& shared_;
  const Responses& model_;
  std::uint64_t seed_;
  int chain_;
  Index sweeps_ = 0;
  Fit fit_;
  std::vector<std::vector<Vec>> hyper_;  // of each part and response
  std::vector<Vec> psi_;                 // of each factor
  LatentLayer latent_;
  Covariance sigma_;
  std::vector<Index> chosen_;  // of each part's sets of columns
  Settling settling_;
};

}  // namespace

std::unique_ptr<Chain> make_responses_chain(const SharedResponses& shared, std::uint64_t seed,
                                            int chain) {
  return std::unique_ptr<Chain>(new ResponsesChain(shared, seed, chain));
}

}  // namespace bsvm
