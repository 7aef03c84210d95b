#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/problem.hpp"

// Small made-up problems, the same on every machine.
namespace bsvm_test {

using namespace bsvm;

// SplitMix64, since the standard library's distributions differ between platforms.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  double uniform();  // in (0, 1)
  double normal();   // by twelve uniforms
  Index below(Index n) { return static_cast<Index>(uniform() * static_cast<double>(n)); }
  Vec normals(Index n);

 private:
  std::uint64_t state_;
};

struct Shape {
  Index n = 120, p = 3, q = 0, groups = 0;
  Index large = 0;           // rows of the second group; the first has one, the last none
  bool weights = true, offset = true;
  bool standardised = true;  // center and scale the columns
  bool ones = false;         // q = 1: a random intercept, the Problem has no z
  std::uint64_t seed = 1;
};

// Owns what a Problem looks at.
struct Data {
  Shape shape;
  Mat x, z;  // (n, p), (n, q); the first column is one (not of a z for q = 1 without `ones`)
  Vec center, scale, y, weight, offset;
  std::vector<int> group;  // in no order

  Mat design() const;  // (n, p) standardised: the outside scale
};

Data simulate(const Shape& shape);

struct PriorSpec {
  std::string name;
  Params params;
  std::vector<Index> columns;
  double unseen = 0;
};

PriorSpec normal_prior(double variance, std::vector<Index> columns);
PriorSpec ridge_prior(double shape, double scale, std::vector<Index> columns, double unseen = 0);

PriorSlot to_slot(const PriorSpec& spec);

// `data` must outlive the Problem.
Problem to_problem(const Data& data, const std::vector<PriorSpec>& priors,
                   const std::vector<PriorSpec>& group_priors);

// A normal prior of variance 100 on the first column, ridge on the others together,
// and ridge on every multiplier.
std::vector<PriorSpec> usual_priors(Index p);
std::vector<PriorSpec> usual_group_priors(Index q);
Problem usual_problem(const Data& data);

inline constexpr const char* kLikelihoods[] = {"hinge", "hinge_normalized"};

// The problem under another likelihood, checked; `integrated` as in Problem.
Problem with(Problem problem, const char* likelihood, Index integrated = -1);

// (columns, n): all rows of a block, as the core sees them.
Mat inside(const Block& block, Index n);
Mat inside(const Problem& problem);  // all dense blocks

std::vector<Index> range(Index first, Index last);  // first .. last - 1

}  // namespace bsvm_test
