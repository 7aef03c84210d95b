// What a Gibbs sweep over n rows cannot avoid: the n latent scales, drawn as the core draws
// them, and one pass of the algebra that eliminates the groups' intercepts, in plain loops. And
// what a trial on an ellipse cannot: the n terms of either likelihood, as the core sums them.
// With <entries>, the draws of one missing entry in each of so many rows, and the sums over these
// rows that the imputation model needs.
// Usage: sweep-limit <rows> <p> <repeats> [<entries>]; <rows> has lines "y f group c_1 .. c_p",
// sorted by group, with group 0 everywhere when there are none; of its first <entries> the last
// column is missing. Prints one "name,value" a line, seconds.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/params.hpp"
#include "base/registry.hpp"
#include "likelihood/likelihood.hpp"
#include "random/draws.hpp"

using bsvm::Arr;

struct Rows {
  int n = 0, p = 0;
  Arr y, f;
  std::vector<double> c;   // (p, n), a row contiguous
  std::vector<int> start;  // of every group, and n
};

Rows read(const char* path, int p) {
  std::ifstream file(path);
  std::vector<double> y, f;
  Rows rows;
  rows.p = p;
  int last = -1;
  for (double a, b, g, x; file >> a >> b >> g;) {
    if (g != last) rows.start.push_back(static_cast<int>(y.size()));
    last = static_cast<int>(g);
    y.push_back(a);
    f.push_back(b);
    for (int j = 0; j < p && file >> x; ++j) rows.c.push_back(x);
  }
  rows.n = static_cast<int>(y.size());
  if (rows.n == 0) throw std::runtime_error("No rows.");
  rows.start.push_back(rows.n);
  rows.y = Eigen::Map<Arr>(y.data(), rows.n);
  rows.f = Eigen::Map<Arr>(f.data(), rows.n);
  return rows;
}

template <class Work>
double median_seconds(int repeats, Work work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int r = 0; r < repeats; ++r) {
    const auto start = Clock::now();
    work(r);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[repeats / 2];
}

// One set of normal equations with every group's intercept eliminated.
struct Reduced {
  std::vector<double> precision, linear;  // (p, p) lower, (p)
  std::vector<double> own, coupling;      // (m), (p, m)
};

void add_row(const double* c, int p, double weight, double slope, double* coupling,
             Reduced& out) {
  for (int j = 0; j < p; ++j) {
    const double weighted = weight * c[j];
    coupling[j] += weighted;
    out.linear[j] += slope * c[j];
    for (int k = j; k < p; ++k) out.precision[j * p + k] += weighted * c[k];
  }
}

void subtract_group(const double* coupling, int p, double own, double linear, Reduced& out) {
  for (int j = 0; j < p; ++j) {
    const double scaled = coupling[j] / own;
    out.linear[j] -= scaled * linear;
    for (int k = j; k < p; ++k) out.precision[j * p + k] -= scaled * coupling[k];
  }
}

void eliminate(const Rows& rows, const bsvm::RowTerms& terms, Reduced& out) {
  const int p = rows.p, m = static_cast<int>(rows.start.size()) - 1;
  out.precision.assign(p * p, 0.0);
  out.linear.assign(p, 0.0);
  out.own.assign(m, 1.0);
  out.coupling.assign(static_cast<std::size_t>(p) * m, 0.0);
  for (int g = 0; g < m; ++g) {
    double linear = 0, *coupling = &out.coupling[static_cast<std::size_t>(g) * p];
    for (int i = rows.start[g]; i < rows.start[g + 1]; ++i) {
      out.own[g] += terms.weight[i];
      linear += terms.slope[i];
      add_row(&rows.c[static_cast<std::size_t>(i) * p], p, terms.weight[i], terms.slope[i],
              coupling, out);
    }
    subtract_group(coupling, p, out.own[g], linear, out);
  }
}

// f = C b + the group's effect given b, from a made-up b: arithmetic alone.
void predict(const Rows& rows, const Reduced& sums, Arr& f) {
  const int p = rows.p, m = static_cast<int>(rows.start.size()) - 1;
  for (int g = 0; g < m; ++g) {
    double effect = 0;
    for (int j = 0; j < p; ++j) effect -= sums.coupling[g * p + j] * sums.linear[j];
    effect /= sums.own[g];
    for (int i = rows.start[g]; i < rows.start[g + 1]; ++i) {
      const double* c = &rows.c[static_cast<std::size_t>(i) * p];
      f[i] = effect;
      for (int j = 0; j < p; ++j) f[i] += c[j] * sums.linear[j];
    }
  }
}

// The last column of the first rows given the latent scales, the coefficients and the other
// columns, under a made-up law of these: arithmetic alone. Its new value goes into c and f.
void draw_entries(Rows& rows, int entries, const bsvm::RowTerms& terms, std::uint64_t sweep,
                  const std::vector<double>& law, std::vector<double>& square) {
  const int p = rows.p;
  const double slope = 0.5;
  square.assign(p * p, 0.0);
  for (int i = 0; i < entries; ++i) {
    double* c = &rows.c[static_cast<std::size_t>(i) * p];
    double pull = 0;
    for (int j = 0; j < p; ++j) pull += law[j] * c[j];
    const double precision = law[p - 1] + terms.weight[i] * slope * slope;
    bsvm::Draws random({1, 0, sweep}, bsvm::Purpose::unknown, static_cast<std::uint64_t>(i));
    const double step = (terms.slope[i] * slope - pull) / precision +
                        random.normal() / std::sqrt(precision);
    c[p - 1] += step;
    rows.f[i] += slope * step;
    for (int j = 0; j < p; ++j)
      for (int k = j; k < p; ++k) square[j * p + k] += c[j] * c[k];
  }
}

double entries_seconds(const Rows& rows, int entries, const bsvm::RowTerms& terms, int repeats,
                       double& sum) {
  Rows own = rows;
  std::vector<double> law(rows.p, -0.2), square;
  law.back() = 1.2;
  const double seconds = median_seconds(repeats, [&](int sweep) {
    draw_entries(own, entries, terms, static_cast<std::uint64_t>(sweep), law, square);
  });
  sum += square.back();
  return seconds;
}

// sum_i log p(y_i | f_i + s a_i + t b_i); the sum keeps the compiler from leaving it out.
double terms_seconds(const Rows& rows, const char* name, int repeats, double& sum) {
  const auto likelihood = bsvm::Registry<bsvm::Likelihood>::make(name, bsvm::Params());
  const Arr margin = rows.y * rows.f, a = 0.1 * margin, b = 0.1 * rows.y;
  return median_seconds(repeats, [&](int trial) {
    const double t = 6.28 * trial / repeats;
    sum += likelihood->over(margin.data(), a.data(), b.data(), nullptr, std::cos(t) - 1,
                            std::sin(t), rows.n);
  });
}

void report(const Rows& rows, int repeats, int entries) {
  const auto hinge = bsvm::Registry<bsvm::Likelihood>::make("hinge", bsvm::Params());
  const Arr weight = Arr::Ones(rows.n);
  bsvm::RowDraws random;
  bsvm::RowTerms terms;
  std::vector<int> index(rows.n);
  random.resize(rows.n);
  terms.resize(rows.n);
  std::iota(index.begin(), index.end(), 0);
  const double draws = median_seconds(repeats, [&](int sweep) {
    const bsvm::DrawKey key{1, 0, static_cast<std::uint64_t>(sweep)};
    bsvm::row_draws(key, index.data(), rows.n, random.normal.data(), random.uniform.data());
    hinge->draw(rows.y, rows.f, weight, random, terms);
  });
  Reduced sums;
  Arr f(rows.n);
  const double algebra = median_seconds(repeats, [&](int) {
    eliminate(rows, terms, sums);
    predict(rows, sums, f);
  });
  double sum = 0;
  if (entries > 0)
    std::printf("entries,%.9g\n", entries_seconds(rows, entries, terms, repeats, sum));
  const double pseudo = terms_seconds(rows, "hinge", repeats, sum),
               normalised = terms_seconds(rows, "hinge_normalized", repeats, sum);
  std::printf("draws,%.9g\nalgebra,%.9g\npseudo,%.9g\nnormalised,%.9g\ncheck,%.9g\n", draws,
              algebra, pseudo, normalised, f.sum() + sum);
}

int main(int count, char** argument) try {
  if (count != 4 && count != 5)
    throw std::runtime_error("Usage: sweep-limit <rows> <p> <repeats> [<entries>]");
  report(read(argument[1], std::atoi(argument[2])), std::atoi(argument[3]),
         count == 5 ? std::atoi(argument[4]) : 0);
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}
