#include "factors_chain.hpp"

#include <cmath>

#include "classifier.hpp"
#include "loadings.hpp"
#include "process_links.hpp"
#include "starts.hpp"

namespace bsvm {

namespace {

std::unique_ptr<Loadings> make_loadings(const SharedFactors& shared, Draws& random) {
  return shared.model.turned ? make_turned_loadings(shared, random)
                             : make_variable_loadings(shared, random);
}

class FactorsChain : public Chain {
 public:
  FactorsChain(const SharedFactors& shared, int threads, std::uint64_t seed, int chain)
      : FactorsChain(shared, threads, {seed, static_cast<std::uint32_t>(chain), 0},
                     Draws({seed, static_cast<std::uint32_t>(chain), 0}, Purpose::hyper, 0)) {}

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    const Vec variances = loadings_->variances(), coefficients = classifier_->coefficients();
    draw.coefficients.resize(coefficients.size() + variances.size());
    draw.coefficients << coefficients, variances;
    draw.expected = draw.coefficients;
    const LinkMoments links = classifier_->links(scores_, threads_);
    std::vector<double> numbers = hyper_numbers(links);
    draw.effects.resize(0);
    if (shared_.model.linear()) {
      Implied implied = loadings_->implied(classifier_->direction(scores_), key());
      numbers.push_back(implied.offset);
      draw.effects = std::move(implied.coefficients);
    }
    draw.expected_effects = draw.effects;
    draw.hyper = Eigen::Map<const Vec>(numbers.data(), static_cast<Index>(numbers.size()));
    draw.unknowns = shared_.offset() + shared_.model.covariates * classifier_->alpha() + links.mean;
    const Index n = scores_.mean().rows(), size = scores_.mean().size();
    draw.law.resize(2 * size);
    Eigen::Map<Mat> mean(draw.law.data(), n, scores_.mean().cols()),
        square(draw.law.data() + size, n, scores_.mean().cols());
    mean = scores_.mean();
    square = mean.cwiseAbs2();
    for (Index i = 0; i < n; ++i) square.row(i) += scores_.covariance(i).diagonal();
  }

  void read_seldom(Vec& out) const override {
    const Vec whole = loadings_->whole(classifier_->direction(scores_), key());
    const Vec own = classifier_->seldom();
    out.resize(whole.size() + own.size());
    out << whole, own;
  }

 private:
  // `random` is used in the order of the members.
  FactorsChain(const SharedFactors& shared, int threads, const DrawKey& start, Draws random)
      : shared_(shared), threads_(threads), start_(start),
        classifier_(make_classifier(shared, first_scores(), random)),
        loadings_(make_loadings(shared, random)), scores_(first_distribution()) {}

  Mat first_scores() const {
    return scores_of_chain(shared_.start, static_cast<int>(start_.chain), start_);
  }

  Scores first_distribution() {
    Host host;
    loadings_->draw(first_scores(), start_, threads_, host);
    return Scores(loadings_->sums(), shared_.place);
  }

  DrawKey key() const {
    return {start_.seed, start_.chain, static_cast<std::uint64_t>(sweeps_)};
  }

  void make_sweep(Host& host) override {
    ++sweeps_;
    classifier_->draw(scores_, key(), threads_, host);
    const Mat w = classifier_->draw_scores(scores_, key(), threads_, host);
    loadings_->draw(w, key(), threads_, host);
    translate(w, host);
    scores_ = Scores(loadings_->sums(), shared_.place);
  }

  // Variables know scores so well that means, which share the mean score with them, would move by
  // small steps: scores w_n + delta and means mu - A delta leave x what it is, so that delta is
  // normal given x and the priors.
  void translate(const Mat& w, Host& host) {
    const FactorModel& model = shared_.model;
    const Index k = model.factors;
    if (k == 0) return;
    const Mat& moments = loadings_->moments();
    Mat precision = moments.bottomRightCorner(k, k) / model.mean_variance;
    precision.diagonal().array() += static_cast<double>(model.n());
    Vec linear = moments.col(0).tail(k) / model.mean_variance - w.colwise().sum().transpose();
    const Vec delta = classifier_->draw_translation(std::move(precision), std::move(linear),
                                                   key(), threads_, host);
    if (delta.size() > 0) loadings_->translate(delta);
  }

  // In the order of factor_numbers(), but the offset.
  std::vector<double> hyper_numbers(const LinkMoments& links) const {
    std::vector<double> out;
    for (const NamedNumbers& part : {classifier_->drawn(), loadings_->drawn()})
      for (const auto& number : part) out.push_back(number.second);
    const double explained = (links.mean.array() - links.mean.mean()).square().mean();
    const double sum = explained + links.variance.mean();
    for (const double number : {classifier_->leftover(scores_, links), explained,
                                sum > 0 ? explained / sum : 1})
      out.push_back(number);
    return out;
  }

  void visit(Archive& archive) override {
    archive.count(sweeps_, kMostSweeps);
    classifier_->visit(archive);
    loadings_->visit(archive);
    if (archive.reads()) scores_ = Scores(loadings_->sums(), shared_.place);
  }

  const SharedFactors& shared_;
  int threads_;
  DrawKey start_;
  Index sweeps_ = 0;
  std::unique_ptr<Classifier> classifier_;
  std::unique_ptr<Loadings> loadings_;
  Scores scores_;
};

}  // namespace

std::unique_ptr<Classifier> make_classifier(const SharedFactors& shared, const Mat& w,
                                            Draws& random) {
  if (shared.model.linear()) return make_linear_classifier(shared, random);
  return shared.model.process.exact ? make_exact_classifier(shared, w, random)
                                    : make_process_classifier(shared, w, random);
}

std::unique_ptr<Chain> make_factors_chain(const SharedFactors& shared, int threads,
                                          std::uint64_t seed, int chain) {
  return std::make_unique<FactorsChain>(shared, threads, seed, chain);
}

std::vector<std::string> factor_numbers(const FactorModel& model) {
  std::vector<std::string> out;
  for (size_t k = 0; k < model.parts.size(); ++k) {
    const CoefficientPart& part = model.parts[k];
    Moments shape;
    shape.count = static_cast<double>(part.places.size());
    shape.square = Vec::Zero(static_cast<Index>(part.places.size()));
    Vec hyper(part.prior->hyper_size(shape.square.size()));
    part.prior->start(shape, hyper);
    for (const auto& number : part.prior->drawn(hyper))
      out.push_back("part_" + std::to_string(k + 1) + "." + number.first);
  }
  for (Index k = 0; k < model.likelihood->free_size(); ++k)
    out.push_back("theta_" + std::to_string(k + 1));
  for (const auto& name : process_numbers(model.process)) out.push_back(name);
  if (!model.noise.each) out.push_back("psi");
  for (const char* name : {"leftover", "explained", "determinacy"}) out.push_back(name);
  if (model.linear()) out.push_back("offset");
  return out;
}

}  // namespace bsvm
