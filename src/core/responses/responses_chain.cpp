#include "responses_chain.hpp"

#include <cmath>

#include "linalg/cholesky.hpp"
#include "loss.hpp"
#include "random/slice.hpp"

namespace bsvm {

namespace {

// A block of more columns than this is a spectrum.
constexpr Index kSmall = 4;
// With more columns of a spectrum than this share of the rows the residual variances are drawn
// with its coefficients integrated out, too.
constexpr double kFlexible = 0.25;
// More coefficients than this of small columns are drawn a response at a time.
constexpr Index kMostAtOnce = 600;
// First width of slices of the logarithm of a standard deviation.
constexpr double kWidth = 1;
// Numbers of Z'H that are kept.
constexpr double kMostCrossed = 1e7;
// Levels whose sums are made at once.
constexpr Index kLevels = 512;
// How far apart chains start about what is known, in logarithms of standard deviations.
constexpr double kApart = 0.3;
// Residual squares that are a smaller share of the responses' are found from the residuals.
constexpr double kCancelled = 1e-6;

Mat columns_of(const Mat& x, const std::vector<Index>& columns) {
  Mat out(x.rows(), static_cast<Index>(columns.size()));
  for (Index k = 0; k < out.cols(); ++k) out.col(k) = x.col(columns[static_cast<size_t>(k)]);
  return out;
}

// to += kron(a, b), b (m, k).
template <class To>
void add_kron(const Mat& a, const Mat& b, To& to) {
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j)
      to.block(i * b.rows(), j * b.cols(), b.rows(), b.cols()) += a(i, j) * b;
}

Vec as_vector(const Mat& x) { return Eigen::Map<const Vec>(x.data(), x.size()); }

// Normal(precision^{-1} linear, precision^{-1}).
Vec draw_normal(const Mat& precision, const Vec& linear, Draws& random) {
  const Factor factor = positive_factor(precision);
  Vec out = solved_lower(factor.lower(), linear);
  for (Index k = 0; k < out.size(); ++k) out[k] += random.normal();
  solve_transposed(factor.lower(), out);
  return out;
}

class ResponsesChain : public Chain {
 public:
  ResponsesChain(const SharedResponses& shared, std::uint64_t seed, int chain)
      : shared_(shared), model_(shared.model), seed_(seed), chain_(chain), y_(shared.y) {
    for (const Index i : shared_.incomplete)
      for (Index j = 0; j < q(); ++j)
        if (std::isnan(y_(i, j))) y_(i, j) = 0;
    b_ = Mat::Zero(model_.p(), q());
    small_fit_ = Mat::Zero(model_.n(), q());
    fits_.assign(shared_.spectra.size() + model_.factors.size(), small_fit_);
    for (const Spectrum& own : shared_.spectra)
      turned_.push_back(Mat::Zero(static_cast<Index>(own.columns.size()), q()));
    Draws random({seed, static_cast<std::uint32_t>(chain), 0}, Purpose::hyper, 0);
    for (const ColumnPart& part : model_.parts) {
      hyper_.emplace_back();
      for (const auto& prior : part.priors) {
        hyper_.back().push_back(begin(*prior, count(part), random));
        const Index j = static_cast<Index>(hyper_.back().size()) - 1;
        if (part.start.size() > 0 && prior->free_size(1) == 1)
          prior->fix(Vec::Constant(1, part.start[j] + kApart * random.normal()),
                     hyper_.back().back());
      }
    }
    for (const LevelPart& factor : model_.factors) {
      const Index each = factor.effects() * q();
      u_.emplace_back(Mat::Zero(each, factor.levels));
      psi_.push_back(begin(*factor.prior, static_cast<double>(each * factor.levels), random));
    }
    for (const LossPart& loss : model_.losses)
      losses_.push_back(loss.variance ? make_normal_loss(*loss.variance)
                                      : make_tube_loss(loss.scale, loss.nu, loss.a, loss.b));
    for (const auto& loss : losses_)
      if (loss->has_share()) loss->stretch(std::exp(random.normal()));
    sigma_ = begin(*model_.residual, shared_.rows * static_cast<double>(q()), random);
    if (model_.start.size() > 0) model_.residual->fix(diagonal_root(random), sigma_);
  }

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    draw.coefficients = draw.expected = as_vector(coefficients());
    std::vector<double> hyper;
    const auto keep = [&](const Prior& prior, const Vec& own) {
      for (const auto& number : prior.drawn(own)) hyper.push_back(number.second);
    };
    for (Index j = 0; j < q(); ++j)
      for (size_t k = 0; k < hyper_.size(); ++k)
        keep(*model_.parts[k].priors[static_cast<size_t>(j)], hyper_[k][static_cast<size_t>(j)]);
    for (size_t f = 0; f < psi_.size(); ++f) keep(*model_.factors[f].prior, psi_[f]);
    keep(*model_.residual, sigma_);
    for (const auto& loss : losses_) {
      const Vec own = loss->numbers();
      hyper.insert(hyper.end(), own.data(), own.data() + own.size());
    }
    draw.hyper = Eigen::Map<const Vec>(hyper.data(), static_cast<Index>(hyper.size()));
    Index size = 0;
    for (const Mat& u : u_) size += u.size();
    draw.effects.resize(size);
    for (const Mat& u : u_) {
      draw.effects.segment(draw.effects.size() - size, u.size()) = as_vector(u);
      size -= u.size();
    }
    draw.expected_effects = draw.effects;
    draw.unknowns = missing();
    draw.law.resize(0);
  }

 private:
  Index q() const { return model_.q(); }
  DrawKey key() const {
    return {seed_, static_cast<std::uint32_t>(chain_), static_cast<std::uint64_t>(sweeps_ + 1)};
  }
  static double count(const ColumnPart& part) {
    return static_cast<double>(part.columns.size()) + part.unseen;
  }

  // (p, q), those of large blocks turned back.
  Mat coefficients() const {
    Mat out = b_;
    for (size_t k = 0; k < shared_.spectra.size(); ++k) {
      const Spectrum& own = shared_.spectra[k];
      const Mat b = own.v * turned_[k];
      for (Index m = 0; m < b.rows(); ++m) out.row(own.columns[static_cast<size_t>(m)]) = b.row(m);
    }
    return out;
  }

  // Chains start apart, so that their agreement says something.
  static Vec begin(const Prior& prior, double count, Draws& random) {
    Moments shape;
    shape.count = count;
    shape.square = Vec::Zero(prior.effects() * prior.effects());
    Vec hyper(prior.hyper_size(static_cast<Index>(count)));
    prior.start(shape, hyper);
    prior.scale(hyper, std::exp(random.normal()));
    return hyper;
  }

  // A diagonal Sigma about its start, as free numbers (prior/prior.hpp).
  Vec diagonal_root(Draws& random) const {
    Vec out = Vec::Zero(q() * (q() + 1) / 2);
    for (Index j = 0; j < q(); ++j)
      out[j * (j + 3) / 2] = model_.start[j] + kApart * random.normal();
    return out;
  }

  void make_sweep(Host& host) override {
    const DrawKey now = key();
    read_sigma();
    if (losses_.empty()) impute(now);
    else draw_latent(now);
    for (size_t k = 0; k < shared_.spectra.size(); ++k) {
      if (host.interrupted()) throw Interrupted();
      draw_spectrum(k, now);
    }
    for (size_t f = 0; f < model_.factors.size(); ++f) draw_factor(f, now);
    if (fits_.empty()) draw_small(now);
    else if (!shared_.joint) draw_by_response(now);
    draw_hyper(now);
    ++sweeps_;
  }

  // Sigma^{-1} and its root, which are known as free numbers (prior/prior.hpp).
  void read_sigma() {
    Vec precision(q() * q()), free(q() * (q() + 1) / 2);
    model_.residual->precision(sigma_, precision);
    inverse_ = Eigen::Map<const Mat>(precision.data(), q(), q());
    model_.residual->free(sigma_, free);
    root_ = Mat::Zero(q(), q());
    for (Index i = 0, at = 0; i < q(); ++i)
      for (Index j = 0; j <= i; ++j, ++at) root_(i, j) = i == j ? std::exp(free[at]) : free[at];
  }

  // The responses less all parts of the fit but the small columns and `but`.
  Mat target(size_t but) const {
    Mat out = y_;
    for (size_t k = 0; k < fits_.size(); ++k)
      if (k != but) out -= fits_[k];
    return out;
  }
  Mat residuals() const { return target(fits_.size()) - small_fit_; }

  // Z' of what the small columns, with the coefficients b, and a large block leave, (d, q).
  Mat level_rest(size_t l, const Mat& b) const {
    Mat out = shared_.zy[l] - shared_.zs[0][l] * b;
    if (!turned_.empty()) out.noalias() -= shared_.zh[l] * turned_[0];
    return out;
  }

  // (d, q) of a level.
  Eigen::Map<const Mat> effects(size_t f, size_t level) const {
    return {u_[f].col(static_cast<Index>(level)).data(), model_.factors[f].effects(), q()};
  }

  // S' times what all but the small columns leave of the responses, and E'E of the residuals.
  Mat small_sums() const {
    if (!shared_.sums_alone) return shared_.s.transpose() * target(fits_.size());
    Mat out = shared_.sy;
    if (!turned_.empty()) out.noalias() -= shared_.spectra[0].hs.transpose() * turned_[0];
    return out - level_sums(shared_.zs, small());
  }

  // Of sums alone: sum over levels of A'u, A (d, rows) from `products`; zero without a factor.
  Mat level_sums(const std::vector<Mat>& products, Index rows) const {
    Mat out = Mat::Zero(rows, q());
    for (size_t l = 0; l < products.size() && !u_.empty(); ++l)
      out.noalias() += products[l].transpose() * effects(0, l);
    return out;
  }
  Mat level_sums(const std::vector<std::vector<Mat>>& products, Index rows) const {
    return products.empty() ? Mat(Mat::Zero(rows, q())) : level_sums(products[0], rows);
  }
  Mat residual_squares() {
    if (!shared_.sums_alone) {
      const Mat e = residuals();
      return e.transpose() * e;
    }
    const Mat b = small_coefficients(), sb = shared_.sy.transpose() * b;
    Mat out = shared_.yy - sb - sb.transpose() + b.transpose() * shared_.ss * b;
    for (size_t l = 0; l < shared_.zy.size(); ++l) {
      const Mat u = effects(0, l), zu = level_rest(l, b).transpose() * u;
      out += u.transpose() * shared_.zz[0][l] * u - zu - zu.transpose();
    }
    if (!turned_.empty()) {
      const Spectrum& own = shared_.spectra[0];
      const Mat& w = turned_[0];
      const Mat hw = (shared_.hy - own.hs * b).transpose() * w;
      out += w.transpose() * own.e.asDiagonal() * w - hw - hw.transpose();
    }
    // sums that cancel
    if ((out.diagonal().array() > kCancelled * shared_.yy.diagonal().array()).all()) return out;
    find_fits();
    const Mat e = residuals();
    return e.transpose() * e;
  }

  // Missing given seen: of e ~ N(0, Lambda^{-1}), e_m given e_o is N(-Lambda_mm^{-1} Lambda_mo e_o,
  // Lambda_mm^{-1}).
  void impute(const DrawKey& now) {
    if (shared_.incomplete.empty()) return;
    const Mat e = residuals();
    for (const Index i : shared_.incomplete) {
      Draws random(now, Purpose::unknown, static_cast<std::uint64_t>(i));
      std::vector<Index> absent, seen;
      for (Index j = 0; j < q(); ++j)
        (std::isnan(shared_.y(i, j)) ? absent : seen).push_back(j);
      const Index m = static_cast<Index>(absent.size());
      Mat precision(m, m);
      Vec linear = Vec::Zero(m);
      for (Index a = 0; a < m; ++a) {
        for (Index b = 0; b < m; ++b) precision(a, b) = inverse_(absent[a], absent[b]);
        for (const Index j : seen) linear[a] -= inverse_(absent[a], j) * e(i, j);
      }
      const Vec drawn = draw_normal(precision, linear, random);
      for (Index a = 0; a < m; ++a) y_(i, absent[a]) += drawn[a] - e(i, absent[a]);
    }
  }

  // z of all rows, response by response given the others', and then the losses' numbers.
  void draw_latent(const DrawKey& now) {
    const Mat f = y_ - residuals();
    Mat delta = y_ - f;
    for (Index i = 0; i < model_.n(); ++i) {
      Draws random(now, Purpose::unknown, static_cast<std::uint64_t>(i));
      for (Index j = 0; j < q(); ++j) {
        const double v = 1 / inverse_(j, j);
        const double others = delta.row(i).dot(inverse_.row(j)) - delta(i, j) * inverse_(j, j);
        const double mean = f(i, j) - v * others, y = shared_.y(i, j);
        const Loss& loss = *losses_[static_cast<size_t>(j)];
        const double z = std::isnan(y) ? mean + std::sqrt(v) * random.normal()
                                       : loss.draw_latent(y, mean, v, random);
        delta(i, j) = z - f(i, j);
      }
    }
    for (Index j = 0; j < q(); ++j) {
      Loss& loss = *losses_[static_cast<size_t>(j)];
      Draws random(now, Purpose::move, (std::uint64_t{1} << 34) + static_cast<std::uint64_t>(j));
      stretch_latent(j, f, delta, loss, random);
      if (loss.has_share()) stretch_loss(j, f, delta, loss, random);
      loss.draw_numbers(second_residuals(j, f, delta, 1), root_.row(j).squaredNorm(), random);
    }
    y_ = f + delta;
  }

  // y - f - t delta of the rows that have response j.
  std::vector<double> second_residuals(Index j, const Mat& f, const Mat& delta, double t) const {
    std::vector<double> out;
    for (Index i = 0; i < model_.n(); ++i)
      if (!std::isnan(shared_.y(i, j))) out.push_back(shared_.y(i, j) - f(i, j) - t * delta(i, j));
    return out;
  }

  // delta_j and its standard deviation together by a slice: their density is that of Sigma alone.
  void stretch_latent(Index j, const Mat& f, Mat& delta, const Loss& loss, Draws& random) {
    const double variance = root_.row(j).squaredNorm();
    const double t = std::exp(slice([&](double step) {
      const double own = std::exp(step);
      return model_.residual->log_stretched(j, sigma_, own) +
             loss.log_density(second_residuals(j, f, delta, own)) +
             loss.log_prior(own * own * variance, 1);
    }, kWidth, random));
    delta.col(j) *= t;
    model_.residual->stretch(j, sigma_, t);
    read_sigma();
  }

  // The second residuals and their scale together: delta_j = y - f - t e.
  void stretch_loss(Index j, const Mat& f, Mat& delta, Loss& loss, Draws& random) const {
    double ee = 0, ed = 0;  // of -delta'Lambda delta/2 as a function of t - 1
    for (Index i = 0; i < model_.n(); ++i) {
      if (std::isnan(shared_.y(i, j))) continue;
      const double e = shared_.y(i, j) - f(i, j) - delta(i, j);
      ee += e * e * inverse_(j, j);
      ed += e * delta.row(i).dot(inverse_.row(j));
    }
    const double variance = root_.row(j).squaredNorm();
    const double t = std::exp(slice([&](double step) {
      const double own = std::exp(step), more = own - 1;
      return more * ed - 0.5 * more * more * ee + loss.log_prior(variance, own);
    }, kWidth, random));
    for (Index i = 0; i < model_.n(); ++i)
      if (!std::isnan(shared_.y(i, j)))
        delta(i, j) -= (t - 1) * (shared_.y(i, j) - f(i, j) - delta(i, j));
    loss.stretch(t);
  }

  // What the losses' priors have of Sigma, whose root this is.
  double log_losses(const Mat& root) const {
    double out = 0;
    for (size_t j = 0; j < losses_.size(); ++j)
      out += losses_[j]->log_prior(root.row(static_cast<Index>(j)).squaredNorm(), 1);
    return out;
  }

  // Prior precisions of the small columns' coefficients, (small, q).
  Mat small_precision() const {
    Mat all(model_.p(), q());
    for (size_t k = 0; k < hyper_.size(); ++k) {
      const ColumnPart& part = model_.parts[k];
      Vec own(static_cast<Index>(part.columns.size()));
      for (Index j = 0; j < q(); ++j) {
        part.priors[static_cast<size_t>(j)]->precision(hyper_[k][static_cast<size_t>(j)], own);
        for (Index a = 0; a < own.size(); ++a)
          all(part.columns[static_cast<size_t>(a)], j) = own[a];
      }
    }
    Mat out(small(), q());
    for (Index a = 0; a < small(); ++a) out.row(a) = all.row(shared_.small[static_cast<size_t>(a)]);
    return out;
  }

  Index small() const { return static_cast<Index>(shared_.small.size()); }

  Mat small_coefficients() const {
    Mat out(small(), q());
    for (Index a = 0; a < small(); ++a) out.row(a) = b_.row(shared_.small[static_cast<size_t>(a)]);
    return out;
  }

  void set_small(const Mat& coefficients) {
    for (Index a = 0; a < small(); ++a)
      b_.row(shared_.small[static_cast<size_t>(a)]) = coefficients.row(a);
    if (!shared_.sums_alone) small_fit_.noalias() = shared_.s * coefficients;
  }

  void draw_jointly(Mat precision, const Vec& linear, const DrawKey& now, std::uint64_t index) {
    precision.diagonal() += as_vector(small_precision());
    Draws random(now, Purpose::dense, index);
    const Vec drawn = draw_normal(precision, linear, random);
    set_small(Eigen::Map<const Mat>(drawn.data(), small(), q()));
  }

  // Without functions and factors. Where a coefficient's prior is the same for all responses,
  // Lambda = Q diag(lambda) Q' makes the columns of B Q independent.
  void draw_small(const DrawKey& now) {
    if (small() == 0) return;
    const Mat prior = small_precision(), linear = small_sums() * inverse_;
    const Mat apart = (prior.array().colwise() / prior.col(0).array() - 1).matrix();
    if (!(apart.cwiseAbs().maxCoeff() < 1e-12)) {
      if (!shared_.joint) return draw_by_response(now);
      Mat precision = Mat::Zero(small() * q(), small() * q());
      add_kron(inverse_, shared_.ss, precision);
      return draw_jointly(std::move(precision), as_vector(linear), now, 0);
    }
    const SymmetricEigen eigen(inverse_);
    const Mat turned = linear * eigen.vectors;
    Mat b(small(), q());
    for (Index l = 0; l < q(); ++l) {
      Mat precision = eigen.values[l] * shared_.ss;
      precision.diagonal() += prior.col(0);
      Draws random(now, Purpose::dense, static_cast<std::uint64_t>(l));
      b.col(l) = draw_normal(precision, turned.col(l), random);
    }
    set_small(b * eigen.vectors.transpose());
  }

  // Each response's given the others'.
  void draw_by_response(const DrawKey& now) {
    if (small() == 0) return;
    const Mat prior = small_precision(), sr = small_sums();
    Mat b = small_coefficients();
    for (Index j = 0; j < q(); ++j) {
      const Vec others = b * inverse_.col(j) - b.col(j) * inverse_(j, j);
      Mat precision = inverse_(j, j) * shared_.ss;
      precision.diagonal() += prior.col(j);
      Draws random(now, Purpose::dense, static_cast<std::uint64_t>(j));
      b.col(j) = draw_normal(precision, sr * inverse_.col(j) - shared_.ss * others, random);
    }
    set_small(b);
  }

  void draw_spectrum(size_t k, const DrawKey& now) {
    const Spectrum& own = shared_.spectra[k];
    Mat hr = shared_.hy, sr = shared_.sy, rr = shared_.yy;  // of what the block and S are to fit
    if (!shared_.sums_alone) {
      const Mat r = target(k);
      hr.noalias() = own.h.transpose() * r;
      sr.noalias() = shared_.s.transpose() * r;
      rr.noalias() = r.transpose() * r;
    } else if (!u_.empty()) {
      hr -= level_sums(shared_.zh, hr.rows());
      sr -= level_sums(shared_.zs, sr.rows());
      for (size_t l = 0; l < shared_.zy.size(); ++l) {
        const Mat u = effects(0, l), zu = shared_.zy[l].transpose() * u;
        rr += u.transpose() * shared_.zz[0][l] * u - zu - zu.transpose();
      }
    }
    const Mat b = small_coefficients(), sb = sr.transpose() * b, left = hr - own.hs * b;
    Vec variance = variances(own);
    if (static_cast<double>(own.e.size()) > kFlexible * shared_.rows)
      stretch_residuals(k, left, rr - sb - sb.transpose() + b.transpose() * shared_.ss * b,
                        variance, now);
    slide_variances(own, left, now, variance);
    const Together both(root_, variance);
    if (shared_.joint && small() > 0) {
      Mat precision = Mat::Zero(small() * q(), small() * q());
      Mat linear = Mat::Zero(small(), q());
      for (Index l = 0; l < q(); ++l) {
        const Vec g = both.g.row(l).transpose();
        const Vec shrunk = both.t[l] / (1 + own.e.array() * both.t[l]);
        const Mat weighted = own.hs.transpose() * shrunk.asDiagonal();
        add_kron(g * g.transpose(), shared_.ss - weighted * own.hs, precision);
        linear += (sr * g - weighted * (hr * g)) * g.transpose();
      }
      draw_jointly(std::move(precision), as_vector(linear), now, 1 + k);
    }
    const Mat a = (hr - own.hs * small_coefficients()) * both.g.transpose();
    Mat w(a.rows(), q());
    Draws random(now, Purpose::design, k);
    for (Index l = 0; l < q(); ++l)
      for (Index m = 0; m < a.rows(); ++m) {
        const double v = both.t[l] / (1 + own.e[m] * both.t[l]);
        w(m, l) = v * a(m, l) + std::sqrt(v) * random.normal();
      }
    w *= both.inverse.transpose();
    if (!shared_.sums_alone) fits_[k].noalias() = own.h * w;
    turned_[k] = std::move(w);
  }

  // Each residual standard deviation by a slice, Sigma -> D Sigma D, the coefficients of a block
  // integrated out: rr = R'R of what it is to fit.
  void stretch_residuals(size_t k, const Mat& hr, const Mat& rr, const Vec& variance,
                         const DrawKey& now) {
    const Spectrum& own = shared_.spectra[k];
    for (Index j = 0; j < q(); ++j) {
      const size_t at = k * static_cast<size_t>(q()) + static_cast<size_t>(j);
      Draws random(now, Purpose::move, (std::uint64_t{1} << 32) + at);
      const auto log_density = [&](double step) {
        const double t = std::exp(step);
        Mat root = root_, inverse = inverse_;
        root.row(j) *= t;
        inverse.row(j) /= t;
        inverse.col(j) /= t;
        return model_.residual->log_stretched(j, sigma_, t) - shared_.rows * step -
               0.5 * inverse.cwiseProduct(rr).sum() +
               log_evidence(own, hr, Together(root, variance)) + log_losses(root);
      };
      model_.residual->stretch(j, sigma_, std::exp(slice(log_density, kWidth, random)));
      read_sigma();
    }
  }

  Vec variances(const Spectrum& own) const {
    const size_t part = static_cast<size_t>(own.part);
    Vec out(q()), precision(static_cast<Index>(own.columns.size()));
    for (Index j = 0; j < q(); ++j) {
      prior_of(part, j).precision(hyper_[part][static_cast<size_t>(j)], precision);
      out[j] = 1 / precision[0];
    }
    return out;
  }

  // The variances of a large block, each by a slice of log tau_j, its coefficients integrated out.
  void slide_variances(const Spectrum& own, const Mat& hr, const DrawKey& now, Vec& variance) {
    const size_t part = static_cast<size_t>(own.part);
    for (Index j = 0; j < q(); ++j) {
      const Prior& prior = prior_of(part, j);
      if (prior.free_size(static_cast<Index>(own.columns.size())) == 0) continue;
      Draws random(now, Purpose::move, static_cast<std::uint64_t>(own.part * q() + j));
      const double here = 0.5 * std::log(variance[j]);
      const VarianceChange change(own, hr, Together(root_, variance), j);
      Vec theta(1), gradient(1);
      const auto log_density = [&](double step) {
        theta[0] = here + step;
        const double s2 = std::exp(2 * theta[0]);
        if (!possible_variance(s2)) return -std::numeric_limits<double>::infinity();
        return prior.log_joint(Moments(), theta, gradient) + change(s2 - variance[j]);
      };
      theta[0] = here + slice(log_density, kWidth, random);
      variance[j] = std::exp(2 * theta[0]);
      prior.fix(theta, hyper_[part][static_cast<size_t>(j)]);
    }
  }

  const Prior& prior_of(size_t part, Index j) const {
    return *model_.parts[part].priors[static_cast<size_t>(j)];
  }

  // A factor's effects, and with them the small columns' coefficients: these with the effects
  // integrated out first. Of a level, with C = kron(Lambda, Z'S) and P = Psi^{-1} + kron(Lambda,
  // Z'Z): precision kron(Lambda, S'S) - sum C'P^{-1}C, linear part vec(S'R Lambda) - sum C'P^{-1}
  // vec(Z'R Lambda).
  void draw_factor(size_t f, const DrawKey& now) {
    const LevelPart& factor = model_.factors[f];
    const size_t at = shared_.spectra.size() + f;
    const Index d = factor.effects(), each = d * q();
    std::vector<Mat> zr = shared_.zy;
    Mat sr = shared_.sy;
    if (shared_.sums_alone && !turned_.empty()) {
      for (size_t l = 0; l < zr.size(); ++l) zr[l].noalias() -= shared_.zh[l] * turned_[0];
      sr.noalias() -= shared_.spectra[0].hs.transpose() * turned_[0];
    }
    if (!shared_.sums_alone) {
      const Mat r = target(at);
      zr = shared_.level_products(f, r);
      sr.noalias() = shared_.s.transpose() * r;
    }
    Vec prior(each * each);
    factor.prior->precision(psi_[f], prior);
    std::vector<Mat> roots(static_cast<size_t>(factor.levels));
    const bool joint = shared_.joint && small() > 0;
    Mat precision = Mat::Zero(joint ? small() * q() : 0, joint ? small() * q() : 0);
    Vec linear = Vec::Zero(precision.rows());
    if (joint) {
      add_kron(inverse_, shared_.ss, precision);
      linear = as_vector(sr * inverse_);
    }
    // L^{-1} C and L^{-1} vec(Z'R Lambda) of some levels at a time, so that their sums are products
    const Index some = joint ? std::min<Index>(factor.levels, kLevels) : 0;
    Mat c(some * each, precision.cols());
    Vec v(some * each);
    for (size_t l = 0; l < roots.size(); ++l) {
      Mat own = Eigen::Map<const Mat>(prior.data(), each, each);
      add_kron(inverse_, shared_.zz[f][l], own);
      roots[l] = positive_factor(own).lower();
      if (!joint) continue;
      const Index place = static_cast<Index>(l) % some, rows = (place + 1) * each;
      auto own_c = c.middleRows(place * each, each);
      own_c.setZero();
      add_kron(inverse_, shared_.zs[f][l], own_c);
      solve_lower(roots[l], own_c);
      v.segment(place * each, each) = solved_lower(roots[l], as_vector(zr[l] * inverse_));
      if (place + 1 < some && l + 1 < roots.size()) continue;
      precision.noalias() -= c.topRows(rows).transpose() * c.topRows(rows);
      linear.noalias() -= c.topRows(rows).transpose() * v.head(rows);
    }
    if (joint) draw_jointly(std::move(precision), linear, now, (std::uint64_t{1} << 20) + f);
    const Mat b = small_coefficients();
    for (size_t l = 0; l < roots.size(); ++l) {
      Draws random(now, Purpose::groups, (static_cast<std::uint64_t>(f) << 32) + l);
      Vec u = solved_lower(roots[l], as_vector((zr[l] - shared_.zs[f][l] * b) * inverse_));
      for (Index a = 0; a < each; ++a) u[a] += random.normal();
      solve_transposed(roots[l], u);
      u_[f].col(static_cast<Index>(l)) = u;
    }
    if (!shared_.sums_alone) find_factor_fit(f);
  }

  void find_factor_fit(size_t f) {
    const LevelPart& factor = model_.factors[f];
    Mat& fit = fits_[shared_.spectra.size() + f];
    const Index d = factor.effects();
    fit.setZero();
    for (Index j = 0; j < q(); ++j)
      for (Index a = 0; a < d; ++a)
        for (Index i = 0; i < model_.n(); ++i)
          fit(i, j) += shared_.z[f](i, a) * u_[f](a + d * j, factor.code[static_cast<size_t>(i)]);
  }

  void draw_hyper(const DrawKey& now) {
    for (size_t k = 0; k < hyper_.size(); ++k) {
      const ColumnPart& part = model_.parts[k];
      if (is_spectrum(k)) continue;
      for (Index j = 0; j < q(); ++j) {
        Moments moments;
        moments.square.resize(static_cast<Index>(part.columns.size()));
        for (Index a = 0; a < moments.square.size(); ++a)
          moments.square[a] = std::pow(b_(part.columns[static_cast<size_t>(a)], j), 2);
        moments.count = count(part);
        moments.unseen = part.unseen;
        Draws random(now, Purpose::hyper, k * static_cast<size_t>(q()) + static_cast<size_t>(j));
        prior_of(k, j).draw(moments, random, hyper_[k][static_cast<size_t>(j)]);
      }
    }
    for (size_t f = 0; f < psi_.size(); ++f) {
      Draws random(now, Purpose::hyper, (std::uint64_t{1} << 32) + f);
      model_.factors[f].prior->draw(squares(u_[f] * u_[f].transpose(),
                                            static_cast<double>(u_[f].cols())), random, psi_[f]);
    }
    Draws random(now, Purpose::hyper, std::uint64_t{1} << 33);
    const Vec before = sigma_;
    const double here = log_losses(root_);
    model_.residual->draw(squares(residual_squares(), shared_.rows), random, sigma_);
    if (losses_.empty()) return;
    // a proposal, since the losses' priors depend on Sigma; what the prior integrates out it draws
    // anew before it is used
    read_sigma();
    if (std::log(random.uniform()) > log_losses(root_) - here) sigma_ = before;
  }

  // Of `levels` joint effects with this sum of u u'.
  static Moments squares(const Mat& sum, double levels) {
    Moments out;
    out.square = as_vector(sum);
    out.count = levels * static_cast<double>(sum.rows());
    return out;
  }

  bool is_spectrum(size_t part) const {
    for (const Spectrum& own : shared_.spectra)
      if (own.part == static_cast<Index>(part)) return true;
    return false;
  }

  // The missing responses as they are, row by row.
  Vec missing() const {
    std::vector<double> out;
    for (const Index i : shared_.incomplete)
      for (Index j = 0; j < q(); ++j)
        if (std::isnan(shared_.y(i, j))) out.push_back(y_(i, j));
    return Eigen::Map<const Vec>(out.data(), static_cast<Index>(out.size()));
  }
  void set_missing(ConstVecRef values) {
    Index at = 0;
    for (const Index i : shared_.incomplete)
      for (Index j = 0; j < q(); ++j)
        if (std::isnan(shared_.y(i, j))) y_(i, j) = values[at++];
  }

  void visit(Archive& archive) override {
    archive.count(sweeps_, kMostSweeps);
    archive.part(Eigen::Map<Vec>(b_.data(), b_.size()));
    for (Mat& w : turned_) archive.part(Eigen::Map<Vec>(w.data(), w.size()));
    for (auto& part : hyper_)
      for (Vec& own : part) archive.part(own);
    for (Vec& own : psi_) archive.part(own);
    archive.part(sigma_);
    for (Mat& u : u_) archive.part(Eigen::Map<Vec>(u.data(), u.size()));
    if (losses_.empty()) {
      archive.part(missing(), [&](ConstVecRef saved) { set_missing(saved); });
    } else {
      archive.part(Eigen::Map<Vec>(y_.data(), y_.size()));
    }
    for (const auto& loss : losses_)
      archive.part(loss->state(), [&](ConstVecRef saved) { loss->restore(saved); });
    if (archive.reads()) find_fits();
  }

  void find_fits() {
    small_fit_ = shared_.s * small_coefficients();
    for (size_t k = 0; k < shared_.spectra.size(); ++k)
      fits_[k].noalias() = shared_.spectra[k].h * turned_[k];
    for (size_t f = 0; f < u_.size(); ++f) find_factor_fit(f);
  }

  const SharedResponses& shared_;
  const Responses& model_;
  std::uint64_t seed_;
  int chain_;
  Index sweeps_ = 0;
  Mat y_;                                // (n, q) complete
  Mat b_;                                // (p, q), zero for columns of large blocks
  std::vector<Mat> turned_;              // (m, q) V'W of each large block
  std::vector<Mat> u_;                   // (d q, levels) of each factor
  std::vector<std::vector<Vec>> hyper_;  // of each part and response
  std::vector<Vec> psi_;                 // of each factor
  Vec sigma_;
  std::vector<std::unique_ptr<Loss>> losses_;  // of each response, or none
  Mat inverse_, root_;                   // (q, q) Sigma^{-1}, and Sigma = root root'
  Mat small_fit_;                        // (n, q) S B_s
  std::vector<Mat> fits_;                // of each spectrum, then each factor
};

}  // namespace

SharedResponses::SharedResponses(const Responses& given)
    : model(given), y(given.y), rows(static_cast<double>(given.n())) {
  check(model);
  const bool weighted = model.weight.size() > 0;
  const Vec root = weighted ? Vec(model.weight.cwiseSqrt()) : Vec(Vec::Ones(model.n()));
  if (weighted) {
    y = root.asDiagonal() * y;
    rows = model.weight.sum();
  }
  for (const LevelPart& factor : model.factors) z.push_back(root.asDiagonal() * factor.z);
  std::vector<bool> large(static_cast<size_t>(model.p()), false);
  for (size_t k = 0; k < model.parts.size(); ++k) {
    const ColumnPart& part = model.parts[k];
    if (static_cast<Index>(part.columns.size()) <= kSmall) continue;
    bool exchangeable = true;
    for (const auto& prior : part.priors) exchangeable = exchangeable && prior->exchangeable();
    if (!exchangeable) continue;
    for (const Index j : part.columns) large[static_cast<size_t>(j)] = true;
    spectra.push_back(make_spectrum(static_cast<Index>(k), part.columns, model.x, root));
  }
  for (Index j = 0; j < model.p(); ++j)
    if (!large[static_cast<size_t>(j)]) small.push_back(j);
  s = root.asDiagonal() * columns_of(model.x, small);
  ss = s.transpose() * s;
  for (Spectrum& own : spectra) own.hs = own.h.transpose() * s;
  joint = s.cols() * model.q() <= kMostAtOnce;
  for (size_t f = 0; f < model.factors.size(); ++f) {
    zz.push_back(level_products(f, z[f]));
    zs.push_back(level_products(f, s));
  }
  for (Index i = 0; i < model.n(); ++i)
    if (y.row(i).array().isNaN().any()) incomplete.push_back(i);
  sums_alone = incomplete.empty() && model.losses.empty() && spectra.size() <= 1 &&
               model.factors.size() <= 1 && crossed_sums() <= kMostCrossed;
  if (!sums_alone) return;
  yy = y.transpose() * y;
  sy = s.transpose() * y;
  if (!spectra.empty()) hy = spectra[0].h.transpose() * y;
  if (model.factors.empty()) return;
  zy = level_products(0, y);
  if (!spectra.empty()) zh = level_products(0, spectra[0].h);
}

// How many numbers Z'H is of a factor and a large block.
double SharedResponses::crossed_sums() const {
  if (spectra.empty() || model.factors.empty()) return 0;
  const LevelPart& factor = model.factors[0];
  return static_cast<double>(factor.levels * factor.effects()) *
         static_cast<double>(spectra[0].e.size());
}

// Z'r of each level, (d, q).
std::vector<Mat> SharedResponses::level_products(size_t f, const Mat& r) const {
  const LevelPart& factor = model.factors[f];
  const Index d = factor.effects();
  std::vector<Mat> out(static_cast<size_t>(factor.levels), Mat::Zero(d, r.cols()));
  for (Index j = 0; j < r.cols(); ++j)
    for (Index a = 0; a < d; ++a)
      for (Index i = 0; i < model.n(); ++i)
        out[static_cast<size_t>(factor.code[static_cast<size_t>(i)])](a, j) += z[f](i, a) * r(i, j);
  return out;
}

std::unique_ptr<Chain> make_responses_chain(const SharedResponses& shared, std::uint64_t seed,
                                            int chain) {
  return std::unique_ptr<Chain>(new ResponsesChain(shared, seed, chain));
}

}  // namespace bsvm
