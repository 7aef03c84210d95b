#pragma once
#include <functional>
#include <vector>

#include "interior_point.hpp"

namespace bsvm {

// One of a row's: cost (u)_+, u = sign (f - place) = kink + sign (c'b + z'effects), at two points.
struct Hinge {
  Index row;              // among all
  const double *c, *z;    // (p), (q)
  double sign, kink, cost;
  Index level;            // among all
  double best, next;      // u there
};

// Two points. Effects of levels at `next` become the best ones given its dense coefficients, under the
// penalties of one level, unless these are left out.
struct HingePoints {
  Vec best, next;     // (P)
  Penalties effects;  // (q) or none
};

// Hinges of rows that are read in parts, level by level.
class HingeReader {
 public:
  HingeReader(const Problem& whole, const RowParts& parts);

  Index p() const { return p_; }
  Index q() const { return q_; }
  Index levels() const { return levels_; }
  Index hinges() const { return hinges_; }
  const Vec& unit() const { return unit_; }  // (P), as a Design has it

  // visit(hinge) for each of each row; what it points to is gone afterwards.
  using Visit = std::function<void(const Hinge&)>;
  void each(HingePoints& points, Host& host, const Visit& visit) const;

 private:
  // Rows that are looked at together: c (p, r), z (q, r), linear predictors at the two points without
  // effects f (2, r).
  struct Looked {
    Mat c, z, f;
    std::vector<Hinge> hinges;
  };
  // Of a part: rows of one level, or some of all.
  struct Rows {
    const Problem& part;
    const int *first, *last;
    Index level;
  };

  void each_of(const Rows& rows, const Mat& b, HingePoints& points, Looked& at,
               const Visit& visit) const;
  void look_at(const Rows& rows, const int* first, const Mat& b, Looked& out) const;
  void find_effects(const Rows& rows, const Mat& b, HingePoints& points, Looked& at,
                    Host& host) const;
  std::vector<int> by_level(const Problem& part) const;

  const RowParts& parts_;
  Index p_, q_, levels_, hinges_;
  Vec unit_;
};

}  // namespace bsvm
