#pragma once
#include <limits>
#include <vector>

#include "hinges.hpp"

namespace bsvm {

// Point estimates of rows that are read in parts, few of which matter (Portnoy & Koenker 1997). As
// long as u = kink - A b keeps its sign a hinge cost (u)_+ is linear, or zero. So rows far from
// their margin become one, the glob,
//
//   (sum_{u > 0} cost kink) - (sum_{u > 0} cost A) b,
//
// and those near it stay rows. The sum of their hinges and the glob's lies below the loss of all rows
// for every b, and is equal to it where no row beyond has changed sides: its minimum bounds that of
// all rows from below, and so does its dual. Far from the minimum, where rows beyond would change
// sides, some of them, evenly spread, stand for all, less their own linear part and with that of all.
class Globs {
 public:
  // `most`: numbers that the rows near the margin may take, at least.
  Globs(const Problem& whole, const RowParts& parts, Index most);

  // All rows, if there is room for them; else some, evenly spread, whose costs stand for all.
  Design sample(Host& host);
  bool has_all() const { return stride_ == 1; }
  const Vec& unit() const { return reader_.unit(); }

  // Reads all rows. Returns the loss at points.next, once effects are the best there, and keeps the
  // rows that are nearest to their margin at one of the two points.
  double look(HingePoints& points, Host& host);

  // Does u move, or can it be expected to from a sample, within what is kept?
  bool holds() const { return move_ < limit_ || crowded_; }

  // The rows near the margin and the glob of the others, by their sides at `next`, or at `best`; and
  // with some of the others.
  Design near(bool at_next) const;
  Design near_and_some(bool at_next) const;

 private:
  // cost (kink - a'b), a sum over rows. That of the last ones, p + 2 numbers, is apart: sums of sums
  // are exact for many rows.
  struct Linear {
    Vec a;  // (P)
    Vec recent = {};
    double kink = 0, cost = 0;
    int count = 0;

    void flush();
  };
  // Hinges that are kept: c (p), z (q) each, signs taken in.
  struct Kept {
    Index p, q;
    std::vector<double> c = {}, z = {}, kink = {}, cost = {}, best = {}, next = {};
    std::vector<Index> row = {};
    std::vector<int> level = {};

    std::size_t size() const { return kink.size(); }
    void add(const Hinge& hinge);
    void merge(const Hinge& hinge);
    Hinge at(std::size_t k) const;
    double number(std::size_t k, Index j) const;  // j of c, z and kink
    void join(const Kept& from, std::size_t* first, std::size_t* last, bool pairs);
  };

  Kept none() const { return {reader_.p(), reader_.q()}; }
  void keep_nearest();
  void join_crowd();
  void beyond(const Hinge& hinge);
  void add(const Hinge& hinge, double times, Linear& sum) const;
  void add_rows(const Kept& kept, double times, DesignRows& out) const;
  void add_linear(const Linear& sum, DesignRows& out) const;

  HingeReader reader_;
  Index most_, stride_ = 1;  // hinges
  Kept kept_, some_;         // near the margin; of those beyond
  double limit_ = std::numeric_limits<double>::infinity();  // of the distance of rows that are kept
  double move_ = 0;       // of u between the points, the root of its mean square
  bool crowded_ = false;  // are there more on the margin than can be kept?
  Linear at_best_, at_next_;
  Vec best_, next_;
};

}  // namespace bsvm
