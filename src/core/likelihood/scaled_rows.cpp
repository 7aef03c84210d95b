#include "scaled_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bsvm {

namespace {

using Block = Eigen::Ref<const Arr>;

// What does not depend on gamma.
struct RowTable {
  Vec response;
  Mat columns;  // (n, k)
};

std::shared_ptr<const RowTable> to_table(const Params& params) {
  const Params::Array columns = params.array("scale_columns");
  auto table = std::make_shared<RowTable>(RowTable{params.numbers("response"), columns});
  if (table->response.size() != columns.rows() || columns.cols() == 0 || !columns.allFinite())
    throw InvalidInput("scale", "'scale_columns' must have finite numbers for each response.");
  return table;
}

Arr kept(const Arr& log_scale) {
  return log_scale.max(-Number::kFarthestLog).min(Number::kFarthestLog);
}

class ScaledRows : public Likelihood {
 public:
  // What is kept within bounds is the logarithm of the whole scale of a row, so that derivatives in
  // gamma are those in log_scale, the member's, times z there too.
  ScaledRows(std::unique_ptr<Likelihood> unit, std::shared_ptr<const RowTable> table,
             double log_scale, ConstVecRef gamma)
      : unit_(std::move(unit)), table_(std::move(table)),
        log_scale_(kept((table_->columns * gamma).array() + log_scale) -
                   kept(Arr::Constant(1, log_scale))[0]),
        inverse_((-log_scale_.array()).exp()) {}

  bool supports(Use use) const override { return unit_->supports(use); }
  bool concave() const override { return unit_->concave(); }
  int scales() const override { return unit_->scales(); }

  void check(const double* y, Index n) const override {
    const double last = static_cast<double>(inverse_.size() - 1);
    const auto known = [=](double code) {
      return code >= 0 && code <= last && code == std::floor(code);
    };
    if (!y || !std::all_of(y, y + n, known))
      throw InvalidInput("y", "Its codes must be numbers of rows.");
    unit_->check(table_->response.data(), table_->response.size());
  }

  double most_offset() const override {
    return inverse_.size() > 0 ? unit_->most_offset() / inverse_.maxCoeff() : kUnitsOfOffset;
  }

  Atoms atoms(double y) const override {
    const double own = inverse(y);
    Atoms out = unit_->atoms(response(y));
    for (int k = 0; k < out.count; ++k) {
      out.atom[k].place /= own;
      out.atom[k].cost *= own;
    }
    return out;
  }

  void terms(Use use, const Block& y, const Block& m, const Block& v,
             RowTerms& out) const override {
    const Lookup rows(*this, y);
    unit_->terms(use, rows.response, m * rows.inverse, v * rows.inverse.square(), out);
    out.value -= rows.log_scale;
    to_units(rows, out);
  }

  void draw(const Block& y, const Block& f, const Block& weight, const RowDraws& random,
            RowTerms& out) const override {
    const Lookup rows(*this, y);
    unit_->draw(rows.response, f * rows.inverse, weight, random, out);
    out.value -= weight * rows.log_scale;
    to_units(rows, out);
  }

  // A few rows at a time, which stay near.
  double over(const LineRows& rows, double s, double t) const override {
    constexpr Index kAtATime = 256;
    Eigen::Array<double, kAtATime, 4> near;  // response, f, a, b
    double sum = 0;
    for (Index from = 0; from < rows.r; from += kAtATime) {
      const Index r = std::min(kAtATime, rows.r - from);
      const double* weight = rows.weight ? rows.weight + from : nullptr;
      for (Index i = 0; i < r; ++i) {
        const double code = rows.y[from + i], own = inverse(code);
        near(i, 0) = response(code);
        near(i, 1) = own * rows.f[from + i];
        if (rows.a) near(i, 2) = own * rows.a[from + i];
        near(i, 3) = own * rows.b[from + i];
        sum -= (weight ? weight[i] : 1) * log_scale_[at(code)];
      }
      const double* column = near.data();
      sum += unit_->over({column, column + kAtATime, rows.a ? column + 2 * kAtATime : nullptr,
                          column + 3 * kAtATime, weight, r},
                         s, t);
    }
    return sum;
  }

  Tilted averaged(double y, double mean, double v, double weight) const override {
    const double own = inverse(y);
    const Tilted of = unit_->averaged(response(y), own * mean, own * own * v, weight);
    return {of.value - weight * log_scale_[at(y)], own * of.slope, own * own * of.curvature};
  }

  double draw_averaged(double y, double mean, double v, double weight,
                       Draws& random) const override {
    const double own = inverse(y);
    return unit_->draw_averaged(response(y), own * mean, own * own * v, weight, random) / own;
  }

 private:
  struct Lookup {
    Arr response, log_scale, inverse;

    Lookup(const ScaledRows& of, const Block& y)
        : response(y.size()), log_scale(y.size()), inverse(y.size()) {
      for (Index i = 0; i < y.size(); ++i) {
        response[i] = of.response(y[i]);
        log_scale[i] = of.log_scale_[at(y[i])];
        inverse[i] = of.inverse(y[i]);
      }
    }
  };

  static void to_units(const Lookup& rows, RowTerms& out) {
    out.slope *= rows.inverse;
    out.weight *= rows.inverse.square();
    out.curvature *= rows.inverse.square();
  }

  static Index at(double y) { return static_cast<Index>(y); }
  // In units of the row's scale.
  double response(double y) const { return inverse(y) * table_->response[at(y)]; }
  double inverse(double y) const { return inverse_[at(y)]; }

  std::unique_ptr<Likelihood> unit_;
  std::shared_ptr<const RowTable> table_;
  Vec log_scale_, inverse_;
};

class ScaledFamily : public Family {
 public:
  ScaledFamily(Index size, Member member, std::shared_ptr<const RowTable> table)
      : Family(size + table->columns.cols(),
               [=](ConstVecRef theta) {
                 return std::make_unique<ScaledRows>(member(theta.head(size)), table, theta[0],
                                                     theta.tail(table->columns.cols()));
               }),
        table_(table) {}

  Index coefficients() const override { return table_->columns.cols(); }
  void columns_of(const Block& y, Mat& out) const override {
    out.resize(coefficients(), y.size());
    for (Index i = 0; i < y.size(); ++i)
      out.col(i) = table_->columns.row(static_cast<Index>(y[i])).transpose();
  }

 private:
  std::shared_ptr<const RowTable> table_;
};

}  // namespace

std::unique_ptr<Likelihood> make_scaled_family(const Params& params, Index size, Member member) {
  if (!params.has("scale_columns")) return make_family(size, std::move(member));
  return std::make_unique<ScaledFamily>(size, std::move(member), to_table(params));
}

}  // namespace bsvm
