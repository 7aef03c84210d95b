#include "shared.hpp"

#include <cmath>

#include "base/error.hpp"

namespace bsvm {

namespace {

// A block of more columns than this is a spectrum.
constexpr Index kSmall = 4;
// More coefficients than this of small columns are drawn a response at a time.
constexpr Index kMostAtOnce = 600;
// Numbers of Z'H that are kept.
constexpr double kMostCrossed = 1e7;

bool is_large(const ColumnPart& part) {
  const bool wide = !part.choices.empty() || static_cast<Index>(part.columns.size()) > kSmall;
  return wide && has_one_variance(part);
}

std::vector<std::vector<Index>> sets_of(const ColumnPart& part) {
  if (part.choices.empty()) return {part.columns};
  return part.choices;
}

[[noreturn]] void refuse_choice() {
  throw InvalidInput("blocks", "A choice of columns with variances of their own goes with at most "
                               "600 coefficients, and without large blocks and factors.");
}

}  // namespace

Mat columns_of(const Mat& x, const std::vector<Index>& columns) {
  Mat out(x.rows(), static_cast<Index>(columns.size()));
  for (Index k = 0; k < out.cols(); ++k) out.col(k) = x.col(columns[static_cast<size_t>(k)]);
  return out;
}

SharedResponses::SharedResponses(const Responses& given)
    : model(given), y(given.y), rows(static_cast<double>(given.n())) {
  check(model);
  const bool weighted = model.weight.size() > 0;
  const Vec root = weighted ? Vec(model.weight.cwiseSqrt()) : Vec(Vec::Ones(model.n()));
  if (weighted) {
    y = root.asDiagonal() * y;
    rows = model.weight.sum();
  }
  for (const LevelPart& factor : model.factors) z.push_back(root.asDiagonal() * factor.z);
  std::vector<bool> large(static_cast<size_t>(model.p()), false);
  for (size_t k = 0; k < model.parts.size(); ++k) {
    const ColumnPart& part = model.parts[k];
    if (!is_large(part)) continue;
    for (const Index j : part.columns) large[static_cast<size_t>(j)] = true;
    blocks.emplace_back();
    for (const auto& columns : sets_of(part)) {
      blocks.back().push_back(spectra.size());
      spectra.push_back(make_spectrum(static_cast<Index>(k), columns, model.x, root));
    }
  }
  std::vector<Index> place(static_cast<size_t>(model.p()), 0);
  for (Index j = 0; j < model.p(); ++j) {
    if (large[static_cast<size_t>(j)]) continue;
    place[static_cast<size_t>(j)] = static_cast<Index>(small.size());
    small.push_back(j);
  }
  for (const ColumnPart& part : model.parts) {
    places.emplace_back();
    for (const auto& columns : sets_of(part)) {
      places.back().emplace_back();
      for (const Index j : columns)
        if (!large[static_cast<size_t>(j)])
          places.back().back().push_back(place[static_cast<size_t>(j)]);
    }
    if (part.choices.empty() || is_large(part)) continue;
    if (chosen >= 0) refuse_choice();
    chosen = static_cast<Index>(places.size()) - 1;
  }
  s = root.asDiagonal() * columns_of(model.x, small);
  ss = s.transpose() * s;
  for (Spectrum& own : spectra) own.hs = own.h.transpose() * s;
  const Index unused = chosen < 0 ? 0 : [this] {
    const ColumnPart& part = model.parts[static_cast<size_t>(chosen)];
    return static_cast<Index>(part.columns.size()) - part.width();
  }();
  joint = (s.cols() - unused) * model.q() <= kMostAtOnce;
  if (chosen >= 0 && !(joint && spectra.empty() && model.factors.empty())) refuse_choice();
  for (size_t f = 0; f < model.factors.size(); ++f) {
    zz.push_back(level_products(f, z[f]));
    zs.push_back(level_products(f, s));
  }
  for (Index i = 0; i < model.n(); ++i)
    if (y.row(i).array().isNaN().any()) incomplete.push_back(i);
  sums_alone = incomplete.empty() && model.losses.empty() && spectra.size() <= 1 &&
               model.factors.size() <= 1 && crossed_sums() <= kMostCrossed;
  if (!sums_alone) return;
  yy = y.transpose() * y;
  sy = s.transpose() * y;
  if (!spectra.empty()) hy = spectra[0].h.transpose() * y;
  if (model.factors.empty()) return;
  zy = level_products(0, y);
  if (!spectra.empty()) zh = level_products(0, spectra[0].h);
}

// How many numbers Z'H is of a factor and a large block.
double SharedResponses::crossed_sums() const {
  if (spectra.empty() || model.factors.empty()) return 0;
  const LevelPart& factor = model.factors[0];
  return static_cast<double>(factor.levels * factor.effects()) *
         static_cast<double>(spectra[0].e.size());
}

std::vector<Mat> SharedResponses::level_products(size_t f, const Mat& r) const {
  const LevelPart& factor = model.factors[f];
  const Index d = factor.effects();
  std::vector<Mat> out(static_cast<size_t>(factor.levels), Mat::Zero(d, r.cols()));
  for (Index j = 0; j < r.cols(); ++j)
    for (Index a = 0; a < d; ++a)
      for (Index i = 0; i < model.n(); ++i)
        out[static_cast<size_t>(factor.code[static_cast<size_t>(i)])](a, j) += z[f](i, a) * r(i, j);
  return out;
}

}  // namespace bsvm
