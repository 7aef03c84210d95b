#include "choice.hpp"

#include <cmath>

#include "normal_draws.hpp"
#include "spectrum_slices.hpp"

namespace bsvm {

WithSet with_set(const SharedResponses& shared, Index set, const Mat& prior, const Mat& linear,
                 const Mat& inverse) {
  WithSet out;
  const auto& sets = shared.places[static_cast<size_t>(shared.chosen)];
  std::vector<bool> absent(static_cast<size_t>(prior.rows()), false);
  for (size_t c = 0; c < sets.size(); ++c)
    for (const Index a : sets[c]) absent[static_cast<size_t>(a)] = static_cast<Index>(c) != set;
  for (Index a = 0; a < prior.rows(); ++a)
    if (!absent[static_cast<size_t>(a)]) out.columns.push_back(a);
  const Index m = static_cast<Index>(out.columns.size()), q = prior.cols();
  Mat ss(m, m), own(m, q), precision = Mat::Zero(m * q, m * q);
  for (Index a = 0; a < m; ++a) {
    const Index at = out.columns[static_cast<size_t>(a)];
    for (Index b = 0; b < m; ++b) ss(a, b) = shared.ss(at, out.columns[static_cast<size_t>(b)]);
    own.row(a) = linear.row(at);
    for (Index j = 0; j < q; ++j) precision(a + m * j, a + m * j) = prior(at, j);
  }
  add_kron(inverse, ss, precision);
  out.root = positive_factor(precision).lower();
  out.half = solved_lower(out.root, as_vector(own));
  out.log_evidence = 0.5 * out.half.squaredNorm() - out.root.diagonal().array().log().sum();
  return out;
}

Mat draw_coefficients(WithSet& own, Index small, Index q, Draws& random) {
  for (Index a = 0; a < own.half.size(); ++a) own.half[a] += random.normal();
  solve_transposed(own.root, own.half);
  Mat out = Mat::Zero(small, q);
  const Index m = static_cast<Index>(own.columns.size());
  for (Index j = 0; j < q; ++j)
    for (Index a = 0; a < m; ++a)
      out(own.columns[static_cast<size_t>(a)], j) = own.half[a + m * j];
  return out;
}

namespace {

// The lattice: its step, and how many of them to each side.
constexpr double kStep = 0.25;
constexpr Index kAmplitudes = 6, kResiduals = 3;

}  // namespace

SetLattice::SetLattice(const SharedResponses& shared, const std::vector<size_t>& block,
                       const Mat& r, const LatentLayer& latent, bool free)
    : shared_(shared), block_(block),
      part_(shared.model.parts[static_cast<size_t>(shared.spectra[block[0]].part)]),
      latent_(latent), rr_(r.transpose() * r) {
  for (const auto& prior : part_.priors) free = free && prior->free_size(1) == 1;
  sides_ = free ? kAmplitudes : 0;
  for (const size_t c : block) hr_.push_back(shared.spectra[c].h.transpose() * r);
}

Vec SetLattice::look(const Vec& variance, const Covariance& sigma) const {
  const Together both(sigma.root(), variance);
  const Index q = rr_.rows(), most = sides_ + kResiduals;
  const double inner = sigma.inverse().cwiseProduct(rr_).sum();
  Vec of_delta(2 * sides_ + 1), of_kappa(2 * kResiduals + 1);  // priors, and the rows' scale
  for (Index d = -sides_; d <= sides_; ++d)
    of_delta[d + sides_] = amplitude_prior(variance, kStep * static_cast<double>(d));
  for (Index k = -kResiduals; k <= kResiduals; ++k) {
    const double kappa = kStep * static_cast<double>(k);
    of_kappa[k + kResiduals] = sigma.log_scaled(std::exp(kappa)) +
                               latent_.log_prior(std::exp(kappa) * sigma.root()) -
                               shared_.rows * static_cast<double>(q) * kappa;
  }
  Vec out(static_cast<Index>(block_.size()) * of_delta.size() * of_kappa.size());
  Index at = 0;
  for (size_t c = 0; c < block_.size(); ++c) {
    const Vec& e = shared_.spectra[block_[c]].e;
    const Mat square = (hr_[c] * both.g.transpose()).cwiseAbs2();
    Vec fitted = Vec::Zero(2 * most + 1), logs = fitted;  // by (delta - kappa) / step
    for (Index u = -most; u <= most; ++u)
      for (Index l = 0; l < q; ++l) {
        const double t = both.t[l] * std::exp(2 * kStep * static_cast<double>(u));
        for (Index k = 0; k < e.size(); ++k) {
          const double more = 1 + e[k] * t;
          fitted[most + u] += t * square(k, l) / more;
          logs[most + u] += std::log(more);
        }
      }
    for (Index d = -sides_; d <= sides_; ++d)
      for (Index k = -kResiduals; k <= kResiduals; ++k) {
        const double shrunk = std::exp(-2 * kStep * static_cast<double>(k));
        out[at++] = 0.5 * shrunk * (fitted[most + d - k] - inner) - 0.5 * logs[most + d - k] +
                    of_delta[d + sides_] + of_kappa[k + kResiduals];
      }
  }
  return out;
}

double SetLattice::amplitude_prior(const Vec& variance, double delta) const {
  if (sides_ == 0) return 0;
  double out = 0;
  Vec theta(1), gradient(1);
  for (Index j = 0; j < variance.size(); ++j) {
    theta[0] = 0.5 * std::log(variance[j]) + delta;
    out += part_.priors[static_cast<size_t>(j)]->log_joint(Moments(), theta, gradient);
  }
  return out;
}

SetLattice::Place SetLattice::place(Index index) const {
  const Index of_kappa = 2 * kResiduals + 1, of_set = (2 * sides_ + 1) * of_kappa;
  const Index rest = index % of_set;
  return {index / of_set, kStep * static_cast<double>(rest / of_kappa - sides_),
          kStep * static_cast<double>(rest % of_kappa - kResiduals)};
}

Index SetLattice::centre(Index set) const {
  return (set * (2 * sides_ + 1) + sides_) * (2 * kResiduals + 1) + kResiduals;
}

Index SetLattice::draw(Index set, Draws& random, std::vector<Vec>& hyper,
                       Covariance& sigma) const {
  const auto variance_of = [&](Index c) {
    return variances(shared_.spectra[block_[static_cast<size_t>(c)]], part_, hyper);
  };
  const Vec here = look(variance_of(set), sigma);
  const Index drawn = draw_index(here, random);
  const Place to = place(drawn);
  const Vec sigma_before = sigma.hyper();
  const std::vector<Vec> before = hyper;
  sigma.scale(std::exp(to.kappa));
  for (size_t j = 0; j < hyper.size() && sides_ > 0; ++j) {
    Vec theta(1);
    part_.priors[j]->free(hyper[j], theta);
    theta[0] += to.delta;
    part_.priors[j]->fix(theta, hyper[j]);
  }
  // What is about there has another constant: of this place both are known.
  const Vec there = look(variance_of(to.set), sigma);
  const double same = here[drawn] - there[centre(to.set)];
  if (std::log(random.uniform()) < log_sum(here) - log_sum(there) - same) return to.set;
  sigma.restore(sigma_before);
  hyper = before;
  return set;
}

double log_sum(const Vec& logs) {
  const double most = logs.maxCoeff();
  return most + std::log((logs.array() - most).exp().sum());
}

Index draw_index(const Vec& logs, Draws& random) {
  const Vec share = (logs.array() - logs.maxCoeff()).exp().matrix();
  double left = random.uniform() * share.sum();
  Index out = 0;
  while (out + 1 < share.size() && (left -= share[out]) > 0) ++out;
  return out;
}

}  // namespace bsvm
