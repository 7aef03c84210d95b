// Sampling from a SparseSource: with latent scales that are known, a sweep is an affine
// function of its keyed noise, which can be read off the draw again.
#include <doctest/doctest.h>

#include "chain/sampler.hpp"
#include "coefficients/coefficients.hpp"
#include "fitting.hpp"
#include "rows/sparse/sparse_source.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

// Nothing random: a row of weight w has precision w / 2 and target 3 y, whatever f.
class Known : public Likelihood {
 public:
  bool supports(Use use) const override { return use == Use::drawn; }
  void terms(Use, const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
             const Eigen::Ref<const Arr>&, RowTerms&) const override {}
  void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
            const Eigen::Ref<const Arr>& weight, const RowDraws&, RowTerms& out) const override {
    const Index r = y.size();
    out.weight.head(r) = 0.5 * weight;
    out.curvature.head(r) = out.weight.head(r);
    out.slope.head(r) = out.weight.head(r) * (3 * y - f);
    out.value.head(r).setZero();
  }
};

Shape shape_of(Index n, Index p) {
  Shape out;
  out.n = n;
  out.p = p;
  return out;
}

// A chain's parts, begun somewhere.
struct Sampled {
  SparseData data;
  Problem problem;
  SparseSource source;
  Coefficients side;
  State state;
  RowSums sums;
  Host host;

  Sampled(SparseData from, bool known)
      : data(std::move(from)), problem(data.problem()),
        source(prepare(problem, known), Use::drawn, 1), side(problem, source.extra()),
        state(side.start(Vec())), sums(state.layout.p) {
    state.seed() = 5;
    state.chain() = 1;
    state.sweep() = 3;
    state.mean() = Noise(9).normals(state.layout.p);
    source.restore(Noise(8).normals(data.columns()), state);
  }

  static const Problem& prepare(Problem& problem, bool known) {
    if (known) problem.likelihood.reset(new Known);
    return problem;
  }

  // All coefficients: sparse ones by position, then the dense ones, inside scale.
  Vec by_position() const {
    const Index columns = data.columns(), p = data.data.shape.p;
    const Vec effects = source.effects();
    Vec out(columns + p);
    for (Index k = 0; k < columns; ++k) out[k] = effects[source.pattern().order[k]];
    out.tail(p) = state.mean().tail(p);
    return out;
  }

  Mat design() const {  // (n, columns + p), columns by position
    const Mat z = data.dense();
    Mat out(data.n(), z.cols() + data.data.shape.p);
    for (Index k = 0; k < z.cols(); ++k) out.col(k) = z.col(source.pattern().order[k]);
    out.rightCols(data.data.shape.p) = inside(problem).transpose();
    return out;
  }
};

struct Law {
  MatL factor;  // L L' the precision
  VecL mean;
};

Law law_of(const Sampled& now) {
  const MatL c = now.design().cast<Real>();
  const Index p = now.data.data.shape.p, columns = now.data.columns();
  const Mat own = level_precision(now.data, now.state.group_prior());
  const VecL omega = 0.5L * now.data.data.weight.cast<Real>();
  MatL a = product(c.transpose() * omega.asDiagonal(), c);
  for (Index k = 0; k < columns; ++k)
    for (Index l = 0; l < columns; ++l)
      a(k, l) += own(now.source.pattern().order[k], now.source.pattern().order[l]);
  a.diagonal().tail(p) += now.side.precision(now.state).tail(p).cast<Real>();
  const VecL target = (3 * now.data.data.y - now.data.data.offset).cast<Real>();
  return {lower_factor(a), inverse(a) * (c.transpose() * omega.cwiseProduct(target))};
}

void check_sweep(SparseData data) {
  Sampled now(std::move(data), true);
  const Law law = law_of(now);
  const Index lead = now.source.pattern().leading, root = now.source.pattern().root();
  now.source.sums(now.state, now.sums, now.host);
  const Vec expected = now.side.draw(now.state, now.sums, now.host);
  const Mat moments = now.source.settle(now.state, Settle::draw, 1);
  CHECK(gap(expected, law.mean.tail(root)) < 1e-12);

  const VecL draw = now.by_position().cast<Real>();
  VecL noise(lead + root);
  for (Index k = 0; k < lead; ++k)
    noise[k] = bsvm::Draws(now.state.key(), Purpose::groups,
                           static_cast<std::uint64_t>(now.source.pattern().order[k])).normal();
  bsvm::Draws dense(now.state.key(), Purpose::dense, 0);
  for (Index k = 0; k < root; ++k) noise[lead + k] = dense.normal();
  CHECK(gap(law.factor.transpose() * (draw - law.mean), noise) < 1e-11);

  // The leading effects' mean given the root's draw.
  const VecL reach = law.factor.transpose() * law.mean -
                     law.factor.transpose().topRightCorner(lead + root, root) * draw.tail(root);
  const VecL mean = law.factor.topLeftCorner(lead, lead)
                        .transpose()
                        .triangularView<Eigen::Upper>()
                        .solve(reach.head(lead));
  const Vec found = now.source.expected_effects(expected);
  for (Index k = 0; k < now.data.columns(); ++k) {
    const Real wanted = k < lead ? mean[k] : law.mean[k];
    CHECK(std::abs(found[now.source.pattern().order[k]] - static_cast<double>(wanted)) < 1e-11);
  }
  CHECK(gap(moments.trace(), draw.head(now.data.columns()).squaredNorm()) < 1e-13);
}

}  // namespace

TEST_CASE("a sweep draws from the coefficients' joint law given the latent scales") {
  check_sweep(crossed(shape_of(120, 3), {12, 9}));
  check_sweep(nested(shape_of(150, 2), 4, 20));
  check_sweep(mixed(shape_of(90, 2)));
}

TEST_CASE("effects that have moved are the root's too") {
  Sampled now(mixed(shape_of(90, 2)), false);
  const Vec moved = Noise(10).normals(now.data.columns());
  now.source.restore(moved, now.state);
  CHECK(now.source.effects() == moved);
  CHECK(now.source.extra() > 0);
  for (Index k = 0; k < now.source.extra(); ++k)
    CHECK(now.state.mean()[k] == now.by_position()[now.source.pattern().leading + k]);
}

TEST_CASE("a chain is the same for any number of threads, and when it is taken up again") {
  const SparseData data = crossed(shape_of(20000, 2), {700, 30});
  const Problem problem = data.problem();
  const auto sampler = Registry<Sampler>::make("gibbs", Params("gibbs", {{"mixing", 1}}));
  const auto chain_of = [&](int threads) {
    return sampler->start(problem, [&](Use, int number) {
      return std::make_unique<SparseSource>(problem, Use::drawn, number);
    }, threads, 77, 0, 100);
  };
  Host host;
  const auto one = chain_of(1), two = chain_of(2), resumed = chain_of(1);
  for (int k = 0; k < 3; ++k) {
    one->sweep(host);
    two->sweep(host);
    if (k == 0) resumed->restore(one->save());
    else resumed->sweep(host);
  }
  CHECK(same_bits(one->save(), two->save()));
  CHECK(same_bits(one->save(), resumed->save()));
}
