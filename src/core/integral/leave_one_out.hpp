#pragma once
#include <vector>

#include "integral/pair/pair_integral.hpp"

namespace bsvm {

// A group's integral, of one effect or two, with all rows and without each of them: r + 1 integrals
// over the same nodes, at little more than the price of one. Nodes cover what counts in
// any of the integrands, and what they do not resolve of the other rows cancels in a quotient.
//
// Along a line there are panels of Gauss-Legendre nodes between kinks. Of two effects, lines that
// lie across the rows' kinks as far as can be, so that what is left to integrate is smooth and an
// even sum over them converges fast. An object holds scratch.
class LeaveOneOut {
 public:
  // `law` must outlive it.
  explicit LeaveOneOut(const LineTerms& law) : law_(law) {}

  // Logs of the integrals: (r + 1) without row 0, 1, .., and of all rows; to about 1e-6 of one
  // effect, 1e-4 of two or where offsets or effects are many times a margin.
  const Vec& integrate(const EffectRows& rows, double s);
  const Vec& integrate(const PairRows& of, const PairScale& scale);

 private:
  struct Range {
    double low, high;
  };

  void take(const EffectRows& rows);
  void look(Index points);
  bool zoom(const std::vector<char>& counts, double step, Range& range) const;
  Range find_range(Range start);
  void place_nodes(Range range, Index least);
  void sum_line(Range range, Index panels);
  void find_direction(const PairRows& of, const PairScale& scale);
  void set_line(double t);
  void find_box(Range& across, Range& along);
  void add_lines(Index first, Index by, double low, double step, Range along);

  const LineTerms& law_;
  std::vector<LineRow> rows_;     // on the line
  std::vector<double> cuts_;
  Vec offset_, across_, along_;    // (r) f = offset + across t + along x
  Vec x_, log_weight_;             // (nodes) on the line
  Mat log_p_;                      // (nodes, r + 1) of a row; in the end of all, prior included
  Mat mass_;                       // (nodes, r + 1) logs of integrands
  Vec line_, total_;               // (r + 1) logs of integrals
  Mat lines_;                      // (r + 1, lines) of two effects
  std::vector<char> counts_;
};

}  // namespace bsvm
