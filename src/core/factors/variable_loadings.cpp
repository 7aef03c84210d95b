// Loadings in the general form: a pass over the variables (variables_pass.hpp).
//
// Of local shrinkage the rate r of the variances, if it is inferred, is drawn with these integrated
// out, given S = sum |a_ik| of m = p K loadings:
//
//   p(r | A) ~ r^{m/2 + shape - 1} exp(-sqrt(2 r) S - rate_of_rate r),
//
// and the variances follow. So neither is what the other was drawn with, and a chain has to keep no
// variances.
#include <cmath>

#include "loadings.hpp"
#include "random/slice.hpp"
#include "variables_pass.hpp"

namespace bsvm {

namespace {

class VariableLoadings : public Loadings {
 public:
  VariableLoadings(const SharedFactors& shared, Draws& random)
      : shared_(shared), model_(shared.model), pass_(shared), variances_(model_, random),
        numbers_(2), all_(model_.n(), model_.factors, model_.noise.each) {
    numbers_[0] = std::exp(0.3 * random.normal());
    numbers_[1] = model_.loadings.rate > 0 ? model_.loadings.rate : std::exp(random.normal());
    gather();
  }

  void draw(const Mat& w, const DrawKey& now, int threads, Host& host) override {
    const bool starts = now.sweep == 0;
    if (!starts && infers_rate()) draw_rate(now);
    VariablesPass::Given given{Vec(1 + model_.factors), rate(), psi()};
    given.precisions << 1 / model_.mean_variance, variances_.precisions();
    all_ = pass_.draw(w, given, now, threads, host);
    if (!model_.noise.each) {
      double count = static_cast<double>(model_.n() * model_.p());
      for (const Gaps& gaps : shared_.variable_gaps)
        count -= static_cast<double>(model_.n()) - gaps.seen;
      Draws random(now, Purpose::hyper, std::uint64_t{2} << 32);
      numbers_[0] = draw_precision(model_.noise, count, all_.residual, random);
    }
    if (!starts)
      variances_.draw(all_.moments.diagonal().tail(model_.factors),
                      static_cast<double>(model_.p()), now);
    gather();
  }

  const Mat& moments() const override { return all_.moments; }
  void translate(const Vec& delta) override {
    pass_.translate(delta, all_);
    gather();
  }

  const ScoreSums& sums() const override { return sums_; }

  NamedNumbers drawn() const override {
    NamedNumbers out;
    if (!model_.noise.each) out.push_back({"psi", psi()});
    return out;
  }
  Vec variances() const override {
    return infers_rate() ? Vec(Vec::Constant(1, rate())) : variances_.variances();
  }

  Implied implied(const Vec& u, const DrawKey&) const override {
    Implied out;
    const Mat& b = pass_.b();
    out.coefficients = b.bottomRows(model_.factors).transpose() * u;
    if (model_.noise.each) out.coefficients.array() *= pass_.psi().array();
    else out.coefficients *= psi();
    out.offset = -b.row(0).dot(out.coefficients);
    return out;
  }

  Vec whole(const Vec&, const DrawKey&) const override {
    const Index p = model_.p(), k = model_.factors, noise = model_.noise.each ? p : 1;
    Vec out(p * (k + 1) + noise);
    Eigen::Map<Mat>(out.data(), p, k + 1) = pass_.b().transpose();
    if (model_.noise.each) out.tail(noise) = pass_.psi();
    else out[out.size() - 1] = psi();
    return out;
  }

  void visit(Archive& archive) override {
    Mat& b = pass_.b();
    archive.part(Eigen::Map<Vec>(b.data(), b.size()));
    archive.part(pass_.psi());
    archive.part(numbers_);
    variances_.visit(archive);
    if (!archive.reads()) return;
    all_ = pass_.sums();
    gather();
  }

 private:
  double psi() const { return numbers_[0]; }
  double rate() const { return numbers_[1]; }
  bool infers_rate() const { return model_.loadings.infers_rate(); }

  void draw_rate(const DrawKey& now) {
    const double half = 0.5 * static_cast<double>(model_.p() * model_.factors);
    const double shape = half + model_.loadings.shape;
    Draws random(now, Purpose::hyper, std::uint64_t{3} << 32);
    const double here = std::log(rate());
    const auto log_density = [&](double by) {
      const double theta = here + by, r = std::exp(theta);
      return shape * theta - std::sqrt(2 * r) * all_.size - model_.loadings.rate_of_rate * r;
    };
    numbers_[1] = std::exp(here + slice(log_density, 4 / std::sqrt(shape), random));
  }

  // What rows lack of the sums is taken from them, or, of rows that lack most, only what they have
  // is summed.
  void gather() {
    const double scale = model_.noise.each ? 1 : psi();
    const Index k = model_.factors;
    const Mat square = scale * all_.own().bottomRightCorner(k, k);
    sums_.precision = square + Mat::Identity(k, k);
    sums_.linear = scale * all_.linear;
    sums_.own.assign(shared_.row_gaps.size(), sums_.precision);
    const Vec cross = scale * all_.own().col(0).tail(k);
    for (Index n = 0; n < model_.n(); ++n) {
      const Index at = shared_.place[static_cast<size_t>(n)];
      if (at < 0) {
        sums_.linear.row(n) -= cross.transpose();
        continue;
      }
      const Gaps& gaps = shared_.row_gaps[static_cast<size_t>(at)];
      Mat listed = Mat::Zero(k, k);
      Vec listed_cross = Vec::Zero(k);
      for (const Index i : gaps.listed) {
        const Vec a = pass_.b().col(i).tail(k);
        const double weight = model_.noise.each ? pass_.psi()[i] : scale;
        listed.noalias() += weight * a * a.transpose();
        listed_cross += weight * pass_.b()(0, i) * a;
      }
      Mat& own = sums_.own[static_cast<size_t>(at)];
      if (gaps.lists_seen) own = listed + Mat::Identity(k, k);
      else own -= listed;
      const Vec left = gaps.lists_seen ? listed_cross : Vec(cross - listed_cross);
      sums_.linear.row(n) -= left.transpose();
    }
  }

  const SharedFactors& shared_;
  const FactorModel& model_;
  VariablesPass pass_;
  FactorVariances variances_;
  Vec numbers_;  // a common psi; the rate of local variances
  VariableSums all_;
  ScoreSums sums_;
};

}  // namespace

std::unique_ptr<Loadings> make_variable_loadings(const SharedFactors& shared, Draws& random) {
  return std::make_unique<VariableLoadings>(shared, random);
}

}  // namespace bsvm
