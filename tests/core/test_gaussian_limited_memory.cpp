#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "gaussian/limited_memory.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

// -x'Ax/2 + b'x, A near the identity.
struct Quadratic {
  Mat a;
  Vec b;

  explicit Quadratic(Index size) {
    Noise noise(7);
    const Mat root =
        Mat::Identity(size, size) +
        0.25 * Mat::NullaryExpr(size, size, [&](Index, Index) { return noise.normal(); });
    a = root * root.transpose();
    b = noise.normals(size);
  }
  Vec gradient(const Vec& x) const { return b - a * x; }
  Vec top() const { return a.llt().solve(b); }
  // The best step along a direction.
  double reach(const Vec& x, const Vec& along) const {
    return gradient(x).dot(along) / along.dot(a * along);
  }
};

// Steps with an exact line search until the gradient is small.
int climb(const Quadratic& of, LimitedMemory& memory, Vec& x, int most) {
  for (int k = 0; k < most; ++k) {
    const Vec gradient = of.gradient(x);
    if (gradient.norm() < 1e-9) return k;
    const Vec along = memory.direction(gradient), step = of.reach(x, along) * along;
    x += step;
    memory.learn(step, of.gradient(x) - gradient);
  }
  return most;
}

}  // namespace

// With exact steps it is the method of conjugate gradients: as many steps as coordinates.
TEST_CASE("limited memory: a quadratic is climbed in as many steps as it has coordinates") {
  for (Index size : {1, 4, 12}) {
    const Quadratic of(size);
    LimitedMemory memory;
    CHECK(memory.empty());
    Vec x = Vec::Zero(size);
    CHECK(climb(of, memory, x, 100) <= size + 1);
    CHECK(gap(x, of.top()) < 1e-8);
    CHECK_FALSE(memory.empty());
  }
}

TEST_CASE("limited memory: without what is learnt it is slower") {
  const Quadratic of(12);
  Vec x = Vec::Zero(12);
  int steps = 0;
  for (; of.gradient(x).norm() > 1e-9 && steps < 1000; ++steps) {
    const Vec along = LimitedMemory().direction(of.gradient(x));
    CHECK(along == of.gradient(x));
    x += of.reach(x, along) * along;
  }
  CHECK(steps > 30);
}

// After enough steps in all directions the direction is Newton's.
TEST_CASE("limited memory: the direction fulfils the last secant equation and ascends") {
  const Quadratic of(8);
  LimitedMemory memory;
  Vec x = Vec::Zero(8);
  climb(of, memory, x, 6);
  Noise noise(8);
  const Vec step = noise.normals(8), change = -of.a * step;
  memory.learn(step, change);
  CHECK(gap(memory.direction(-change), step) < 1e-12);
  for (int k = 0; k < 20; ++k) {
    const Vec gradient = noise.normals(8);
    CHECK(memory.direction(gradient).dot(gradient) > 0);
  }
}

TEST_CASE("limited memory: a step along which the gradient grows teaches nothing") {
  LimitedMemory memory;
  memory.learn(Vec::Ones(3), Vec::Ones(3));
  CHECK(memory.empty());
  memory.learn(Vec::Ones(3), Vec::Zero(3));
  CHECK(memory.empty());
  memory.learn(Vec::Zero(3), Vec::Zero(3));
  CHECK(memory.empty());
  memory.learn(Vec::Ones(3), -Vec::Ones(3));
  CHECK_FALSE(memory.empty());
  memory.forget();
  CHECK(memory.empty());
}

TEST_CASE("limited memory: it forgets the oldest steps") {
  const Quadratic of(30);
  LimitedMemory all, last;
  Noise noise(9);
  for (int k = 0; k < 40; ++k) {
    const Vec step = noise.normals(30);
    all.learn(step, -of.a * step);
    if (k >= 25) last.learn(step, -of.a * step);
  }
  const Vec gradient = noise.normals(30);
  CHECK(gap(all.direction(gradient), last.direction(gradient)) < 1e-13);
}

// x = T z: a step of z is T^{-1} of x's, a gradient in z is T' times x's; where directions do not
// depend on the coordinates (T orthogonal) they are the same ones.
TEST_CASE("limited memory: in other coordinates it knows the same") {
  const Quadratic of(5);
  LimitedMemory memory;
  Vec x = Vec::Zero(5);
  climb(of, memory, x, 3);
  LimitedMemory turned = memory;
  const Vec normal = Vec::LinSpaced(5, -1, 2).normalized();
  const Mat turn = Mat::Identity(5, 5) - 2 * normal * normal.transpose();
  turned.rewrite([&](ConstVecRef step) { return Vec(turn.transpose() * step); },
                 [&](ConstVecRef gradient) { return Vec(turn.transpose() * gradient); });
  const Vec gradient = of.gradient(Vec::Ones(5));
  CHECK(gap(turn * turned.direction(turn.transpose() * gradient), memory.direction(gradient)) <
        1e-12);

  const Vec scale = Vec::LinSpaced(5, 0.5, 2);  // step'fall stays, and so does what is ascent
  LimitedMemory scaled = memory;
  const Vec step = Vec::LinSpaced(5, -2, 1), fall = of.a * step;
  scaled.learn(step, -fall);
  scaled.rewrite([&](ConstVecRef s) { return Vec(s.cwiseQuotient(scale)); },
                 [&](ConstVecRef g) { return Vec(g.cwiseProduct(scale)); });
  CHECK(gap(scaled.direction(fall.cwiseProduct(scale)), step.cwiseQuotient(scale)) < 1e-12);
}

TEST_CASE(
    "limited memory: coordinates that are cut stay, the others go on as if they had not moved") {
  const Quadratic of(6);
  LimitedMemory memory, expected;
  Noise noise(10);
  for (int k = 0; k < 5; ++k) {
    const Vec step = noise.normals(6), fall = of.a * step;
    memory.learn(step, -fall);
    Vec short_step = step, short_fall = fall;
    short_step.tail(2).setZero();
    short_fall.tail(2).setZero();
    expected.learn(short_step, -short_fall);
  }
  memory.cut(2);
  Vec gradient = noise.normals(6);
  gradient.tail(2).setZero();
  CHECK(memory.direction(gradient) == expected.direction(gradient));
  CHECK(memory.direction(gradient).tail(2).isZero(0));
}
