// What a draw of q implies, as that of a chain: given x_n alone f_n is normal about t_n'alpha
// + offset_n + m_n'beta with variance beta'S_n beta, with sums over what is seen of row n
//
//   S_n^{-1} = I + sum psi_i a_i a_i',   m_n = S_n sum psi_i a_i (x_in - mu_i).
//
// Of complete rows m_n'beta = coef'(x_n - mu), coef = Psi A S beta.
#include <cmath>

#include "kernel/points.hpp"
#include "process_links.hpp"
#include "variational.hpp"

namespace bsvm {

namespace {

// What a draw's loadings say of a row's scores.
void add_row(const SharedFactors& shared, const LoadingsPosterior::Draw& own, Index n,
             Mat& precision, Vec& linear) {
  const Index k = precision.rows();
  precision = Mat::Identity(k, k);
  linear = Vec::Zero(k);
  for (Index i = 0; i < own.b.cols(); ++i) {
    if (std::isnan(shared.model.x(n, i))) continue;
    const Vec a = own.b.col(i).tail(k);
    const double weight = own.psi[own.psi.size() > 1 ? i : 0];
    precision += weight * a * a.transpose();
    linear += weight * (shared.model.x(n, i) - own.b(0, i)) * a;
  }
}

// Of a linear classifier: what of f_n is the factors', given x alone.
LinkMoments links_of(const SharedFactors& shared, const LoadingsPosterior::Draw& own,
                     const Mat& square, const Vec& beta, const Vec& implied, double offset) {
  const double complete = beta.dot(Factor(square).solve(beta));
  LinkMoments out{Vec((shared.x() * implied).array() + offset),
                  Vec::Constant(shared.model.n(), complete)};
  for (Index n = 0; n < shared.model.n(); ++n) {
    if (shared.place[static_cast<size_t>(n)] < 0) continue;
    Mat precision(beta.size(), beta.size());
    Vec linear;
    add_row(shared, own, n, precision, linear);
    const Vec along = Factor(precision).solve(beta);
    out.mean[n] = along.dot(linear);
    out.variance[n] = beta.dot(along);
  }
  if (!shared.model.feedback) out.variance.setZero();
  return out;
}

// Of a process.
LinkMoments links_of(const SharedFactors& shared, const FactorPosterior& posterior,
                     const LoadingsPosterior::Draw& own, const Mat& weighted, const Mat& square,
                     const Vec& b) {
  const Index k = square.rows();
  ScoreSums sums{square, shared.x() * weighted.transpose(), {}};
  const Vec cross = weighted * own.b.row(0).transpose();
  sums.own.assign(shared.row_gaps.size(), square);
  for (Index n = 0; n < shared.model.n(); ++n) {
    const Index at = shared.place[static_cast<size_t>(n)];
    Vec linear = Vec(sums.linear.row(n)) - cross;
    if (at >= 0) {
      Mat precision(k, k);
      add_row(shared, own, n, precision, linear);
      sums.own[static_cast<size_t>(at)] = precision;
    }
    sums.linear.row(n) = linear.transpose();
  }
  Host nobody;
  const Features features(*shared.model.process.kernel, shared.points, posterior.theta(), nobody);
  return process_links({features, b, std::exp(posterior.log_sd())}, Scores(sums, shared.place),
                       shared.model.feedback, true, 1, nobody);
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
  Vec b(classifier.mean().size());
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
  if (!model.linear() && model.process.variance->free_size(1) > 0)
    numbers.push_back(std::exp(2 * posterior.log_sd()));
  for (Index j = 0; j < posterior.theta().size(); ++j)
    if (model.process.numbers[static_cast<size_t>(j)])
      numbers.push_back(std::exp(posterior.theta()[j]));
  if (!model.noise.each) numbers.push_back(own.psi[0]);

  Mat weighted = own.b.bottomRows(k);  // A'Psi
  if (model.noise.each) weighted = weighted * own.psi.asDiagonal();
  else weighted *= own.psi[0];
  const Mat square = Mat::Identity(k, k) + weighted * own.b.bottomRows(k).transpose();
  LinkMoments links;
  double offset = 0, leftover;
  if (model.linear()) {
    const Vec beta = b.tail(k), along = Factor(square).solve(beta);
    out.implied = weighted.transpose() * along;
    offset = -own.b.row(0).dot(out.implied);
    links = links_of(shared, own, square, beta, out.implied, offset);
    leftover = model.feedback ? beta.dot(along) : 0;
  } else {
    links = links_of(shared, posterior, own, weighted, square, b.tail(b.size() - d));
    leftover = links.variance.mean();
  }
  out.links = shared.offset() + model.covariates * b.head(d) + links.mean;
  const double explained = (links.mean.array() - links.mean.mean()).square().mean();
  const double sum = explained + links.variance.mean();
  for (const double number : {leftover, explained, sum > 0 ? explained / sum : 1})
    numbers.push_back(number);
  if (model.linear()) numbers.push_back(offset);
  out.hyper = Eigen::Map<const Vec>(numbers.data(), static_cast<Index>(numbers.size()));

  Vec variances = Vec::Constant(model.loadings.scales(k), own.rate);
  for (Index j = 0; j < variances.size() && !model.loadings.local; ++j) {
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
  out.coefficients.resize(model.coefficients() + variances.size());
  out.coefficients << b.head(model.coefficients()), variances;
  Vec process(0);
  if (!model.linear()) {
    process.resize(b.size() - d + posterior.theta().size() + 1);
    process << b.tail(b.size() - d), posterior.theta(), std::exp(2 * posterior.log_sd());
  }
  out.whole.resize(own.b.size() + own.psi.size() + process.size());
  out.whole << Vec::Zero(own.b.size()), own.psi, process;
  Eigen::Map<Mat>(out.whole.data(), p, k + 1) = own.b.transpose();
  return out;
}

}  // namespace bsvm
