#include "choice.hpp"

#include <cmath>

#include "normal_draws.hpp"

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

Index amplitudes(const SetLattice::Here& here) { return here.amplitude ? kAmplitudes : 0; }

}  // namespace

SetLattice::SetLattice(const SharedResponses& shared, const std::vector<size_t>& block, const Mat& r,
                       double rows)
    : shared_(shared), block_(block), rr_(r.transpose() * r), rows_(rows) {
  for (const size_t c : block) hr_.push_back(shared.spectra[c].h.transpose() * r);
}

Vec SetLattice::look(const Here& here) const {
  const Together both(here.root, here.variance);
  const Index sides = amplitudes(here), q = rr_.rows(), most = sides + kResiduals;
  const double inner = here.inverse.cwiseProduct(rr_).sum();
  Vec out(static_cast<Index>(block_.size()) * (2 * sides + 1) * (2 * kResiduals + 1));
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
    for (Index d = -sides; d <= sides; ++d)
      for (Index k = -kResiduals; k <= kResiduals; ++k) {
        const double delta = kStep * static_cast<double>(d), kappa = kStep * static_cast<double>(k);
        out[at++] = 0.5 * std::exp(-2 * kappa) * (fitted[most + d - k] - inner) -
                    0.5 * logs[most + d - k] - rows_ * static_cast<double>(q) * kappa +
                    (here.amplitude ? here.amplitude(delta) : 0) + here.residual(kappa);
      }
  }
  return out;
}

SetLattice::Place SetLattice::place(Index index, const Here& here) const {
  const Index sides = amplitudes(here), of_kappa = 2 * kResiduals + 1;
  const Index of_set = (2 * sides + 1) * of_kappa, rest = index % of_set;
  return {index / of_set, kStep * static_cast<double>(rest / of_kappa - sides),
          kStep * static_cast<double>(rest % of_kappa - kResiduals)};
}

Index SetLattice::centre(Index set, const Here& here) const {
  const Index sides = amplitudes(here), of_kappa = 2 * kResiduals + 1;
  return (set * (2 * sides + 1) + sides) * of_kappa + kResiduals;
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
