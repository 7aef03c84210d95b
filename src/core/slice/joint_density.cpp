#include "joint_density.hpp"

#include "coefficients/log_posterior.hpp"
#include "coefficients/prior_density.hpp"
#include "rows/integrated/integrated_source.hpp"

namespace bsvm {

namespace {

class IntegratedDensity : public JointDensity {
 public:
  IntegratedDensity(const Problem& problem, int threads)
      : prior_(problem), source_(problem, threads),
        sums_(prior_.coefficients() + source_.free()) {}

  double rows(const Vec& x, Host& host) override {
    source_.sums(point(x), Depth::value, sums_, host);
    return sums_.value();
  }
  double draw(const Vec& x, const DrawKey& key, Vec& effects, Host& host) override {
    return source_.draw(point(x), key, effects, host);
  }

 private:
  Vec point(const Vec& x) const {
    const Index d = prior_.coefficients();
    Vec out(d + prior_.seen());
    out << x.head(d), prior_.seen(x.tail(prior_.free()));
    return out;
  }

  PriorDensity prior_;
  IntegratedSource source_;
  RowSums sums_;
};

class PlainDensity : public JointDensity {
 public:
  PlainDensity(const Problem& problem, int threads) : posterior_(problem, threads) {}

  double rows(const Vec& x, Host& host) override { return posterior_.rows(x, host); }
  double draw(const Vec& x, const DrawKey&, Vec&, Host& host) override { return rows(x, host); }

 private:
  LogPosterior posterior_;
};

}  // namespace

std::unique_ptr<JointDensity> joint_density(const Problem& problem, int threads) {
  std::unique_ptr<JointDensity> out;
  if (problem.integrated >= 0) out.reset(new IntegratedDensity(problem, threads));
  else out.reset(new PlainDensity(problem, threads));
  return out;
}

}  // namespace bsvm
