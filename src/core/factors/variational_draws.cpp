// What a draw of q implies, as that of a chain: given x_n alone f_n is normal about t_n'alpha
// + offset_n + m_n'beta with variance beta'S_n beta, with sums over what is seen of row n
//
//   S_n^{-1} = I + sum psi_i a_i a_i',   m_n = S_n sum psi_i a_i (x_in - mu_i).
//
// Of complete rows m_n'beta = coef'(x_n - mu), coef = Psi A S beta.
#include <cmath>

#include "factors_chain.hpp"
#include "variational.hpp"

namespace bsvm {

namespace {

// m_n'beta and beta'S_n beta of all rows.
struct DrawnLinks {
  Vec own, leftover;
};

DrawnLinks links_of(const SharedFactors& shared, const Mat& b, const Vec& psi, const Mat& square,
                    const Vec& beta, const Vec& implied, double offset) {
  const Index k = beta.size();
  const Vec along = Factor(square).solve(beta);
  DrawnLinks out{Vec((shared.x() * implied).array() + offset),
                 Vec::Constant(shared.model.n(), beta.dot(along))};
  for (Index n = 0; n < shared.model.n(); ++n) {
    const Index at = shared.place[static_cast<size_t>(n)];
    if (at < 0) continue;
    Mat precision = Mat::Identity(k, k);
    Vec linear = Vec::Zero(k);
    for (Index i = 0; i < b.cols(); ++i) {
      if (std::isnan(shared.model.x(n, i))) continue;
      const Vec a = b.col(i).tail(k);
      const double weight = psi[psi.size() > 1 ? i : 0];
      precision += weight * a * a.transpose();
      linear += weight * (shared.model.x(n, i) - b(0, i)) * a;
    }
    const Vec own = Factor(precision).solve(beta);
    out.own[n] = own.dot(linear);
    out.leftover[n] = beta.dot(own);
  }
  return out;
}

// Hyper-parameters of a prior given what was drawn of its coefficients.
Vec drawn_hyper(const Prior& prior, const Vec& hyper, const Moments& moments, Draws& random) {
  Vec out = hyper;
  prior.draw(moments, random, out);
  return out;
}

}  // namespace

VariationalDraw draw_variational(const SharedFactors& shared, const FactorPosterior& posterior,
                                 std::uint64_t seed, std::uint64_t draw) {
  const FactorModel& model = shared.model;
  const Index k = model.factors, p = model.p(), d = model.d();
  const DrawKey now{seed, 0, draw};
  const LoadingsPosterior::Draw own = posterior.loadings().draw(now);
  const ClassifierPosterior& classifier = posterior.classifier();
  Draws random(now, Purpose::dense, 0);
  Vec b(model.coefficients());
  for (Index j = 0; j < b.size(); ++j) b[j] = random.normal();
  if (b.size() > 0)
    b = classifier.mean() + lower_product(Factor(classifier.covariance()).lower(), b);

  VariationalDraw out;
  std::vector<double> numbers;
  for (size_t j = 0; j < model.parts.size(); ++j) {
    const CoefficientPart& part = model.parts[j];
    Moments moments;
    moments.count = static_cast<double>(part.places.size());
    moments.square.resize(static_cast<Index>(part.places.size()));
    for (Index a = 0; a < moments.square.size(); ++a)
      moments.square[a] = std::pow(b[part.places[static_cast<size_t>(a)]], 2);
    Draws stream(now, Purpose::hyper, j);
    const Vec hyper = moments.square.size() > 0
                          ? drawn_hyper(*part.prior, classifier.hyper()[j], moments, stream)
                          : classifier.hyper()[j];
    for (const auto& number : part.prior->drawn(hyper)) numbers.push_back(number.second);
  }
  for (Index j = 0; j < classifier.theta().size(); ++j) numbers.push_back(classifier.theta()[j]);
  if (!model.noise.each) numbers.push_back(own.psi[0]);
  if (model.loadings.local && !(model.loadings.rate > 0)) numbers.push_back(own.rate);

  Mat weighted = own.b.bottomRows(k);  // A'Psi
  if (model.noise.each) weighted = weighted * own.psi.asDiagonal();
  else weighted *= own.psi[0];
  const Mat square = Mat::Identity(k, k) + weighted * own.b.bottomRows(k).transpose();
  const Vec beta = b.tail(k);
  out.implied = weighted.transpose() * Factor(square).solve(beta);
  const double offset = -own.b.row(0).dot(out.implied);
  const DrawnLinks links = links_of(shared, own.b, own.psi, square, beta, out.implied, offset);
  out.links = shared.offset() + model.covariates * b.head(d) + links.own;
  const double explained = (links.own.array() - links.own.mean()).square().mean();
  const double leftover = model.feedback ? links.leftover.mean() : 0;
  const double complete = model.feedback ? beta.dot(Factor(square).solve(beta)) : 0;
  const double sum = explained + leftover;
  for (const double number : {complete, explained, sum > 0 ? explained / sum : 1, offset})
    numbers.push_back(number);
  out.hyper = Eigen::Map<const Vec>(numbers.data(), static_cast<Index>(numbers.size()));

  Vec variances(model.loadings.local ? 0 : k);
  for (Index j = 0; j < variances.size(); ++j) {
    const Prior& prior = *model.loadings.priors[static_cast<size_t>(j)];
    Moments moments;
    moments.count = static_cast<double>(p);
    moments.square = Vec::Constant(1, own.b.row(1 + j).squaredNorm());
    Vec hyper(prior.hyper_size(1)), precision(1);
    prior.start(moments, hyper);
    Draws stream(now, Purpose::hyper, (std::uint64_t{1} << 32) + static_cast<std::uint64_t>(j));
    prior.draw(moments, stream, hyper);
    prior.precision(hyper, precision);
    variances[j] = 1 / precision[0];
  }
  out.coefficients.resize(b.size() + variances.size());
  out.coefficients << b, variances;
  out.whole.resize(own.b.size() + own.psi.size());
  Eigen::Map<Mat>(out.whole.data(), p, k + 1) = own.b.transpose();
  out.whole.tail(own.psi.size()) = own.psi;
  return out;
}

}  // namespace bsvm
