// What one thread of OpenBLAS needs for what n rows with P coefficients cannot avoid: in a pass C'C
// by dsyrk (C is n x P) and inv(L) C' by dtrsm (L is P x P, C' is P x n), in a sweep of draws dsyrk
// and the factor of the P x P precision by dpotrf, in a sweep of slices C b by dgemv.
// Usage: blas-limit <libopenblas.so> <n> <P> <repeats>; prints one "name,value" a line, seconds.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using Syrk = void (*)(const char*, const char*, const int*, const int*, const double*,
                      const double*, const int*, const double*, double*, const int*);
using Trsm = void (*)(const char*, const char*, const char*, const char*, const int*, const int*,
                      const double*, const double*, const int*, double*, const int*);
using Potrf = void (*)(const char*, const int*, double*, const int*, int*);

using Gemv = void (*)(const char*, const int*, const int*, const double*, const double*,
                      const int*, const double*, const int*, const double*, double*, const int*);

struct Blas {
  Syrk syrk;
  Trsm trsm;
  Potrf potrf;
  Gemv gemv;
  std::string core;
};

template <class Function>
Function symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) throw std::runtime_error(std::string("The library has no function ") + name + ".");
  return reinterpret_cast<Function>(found);
}

Blas load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  symbol<void (*)(int)>(library, "openblas_set_num_threads")(1);
  return {symbol<Syrk>(library, "dsyrk_"), symbol<Trsm>(library, "dtrsm_"),
          symbol<Potrf>(library, "dpotrf_"), symbol<Gemv>(library, "dgemv_"),
          symbol<char* (*)()>(library, "openblas_get_corename")()};
}

std::vector<double> normals(std::size_t count) {
  std::mt19937_64 bits(1);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = normal(bits);
  return values;
}

// A well-conditioned lower triangle: one on the diagonal, small below.  // (P, P)
std::vector<double> lower_triangle(int P) {
  std::vector<double> l(std::size_t(P) * P, 0.0);
  for (int j = 0; j < P; ++j)
    for (int i = j; i < P; ++i) l[std::size_t(j) * P + i] = i == j ? 1.0 : 0.5 / P;
  return l;
}

// Median seconds of `work`, each run after an untimed `prepare`.
template <class Prepare, class Work>
double median_seconds(int repeats, Prepare prepare, Work work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int r = 0; r < repeats; ++r) {
    prepare();
    const auto start = Clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[repeats / 2];
}

// `trans` says how C lies in memory: "T" a column contiguous (n x P), "N" a row contiguous (P x n).
double syrk_seconds(const Blas& blas, const char* trans, int n, int P, int repeats) {
  const std::vector<double> c = normals(std::size_t(n) * P);
  std::vector<double> gram(std::size_t(P) * P, 0.0);
  const double one = 1.0, zero = 0.0;
  const int ld = *trans == 'T' ? n : P;
  return median_seconds(repeats, [] {}, [&] {
    blas.syrk("L", trans, &P, &n, &one, c.data(), &ld, &zero, gram.data(), &P);
  });
}

double trsm_seconds(const Blas& blas, int n, int P, int repeats) {
  const std::vector<double> c = normals(std::size_t(n) * P), l = lower_triangle(P);
  std::vector<double> solved(c.size());
  const double one = 1.0;
  return median_seconds(repeats, [&] { solved = c; }, [&] {
    blas.trsm("L", "L", "N", "N", &P, &n, &one, l.data(), &P, solved.data(), &P);
  });
}

// Of L L' with the L above.
double potrf_seconds(const Blas& blas, int P, int repeats) {
  const std::vector<double> l = lower_triangle(P);
  std::vector<double> gram(l.size(), 0.0), factor;
  const double one = 1.0, zero = 0.0;
  int failed = 0;
  blas.syrk("L", "N", &P, &P, &one, l.data(), &P, &zero, gram.data(), &P);
  return median_seconds(repeats, [&] { factor = gram; }, [&] {
    blas.potrf("L", &P, factor.data(), &P, &failed);
  });
}

double gemv_seconds(const Blas& blas, int n, int P, int repeats) {
  const std::vector<double> c = normals(std::size_t(n) * P), b = normals(P);
  std::vector<double> product(n);
  const double one = 1.0, zero = 0.0;
  const int step = 1;
  return median_seconds(repeats, [] {}, [&] {
    blas.gemv("N", &n, &P, &one, c.data(), &n, b.data(), &step, &zero, product.data(), &step);
  });
}

void report(const Blas& blas, int n, int P, int repeats) {
  const double columns = syrk_seconds(blas, "T", n, P, repeats);
  const double rows = syrk_seconds(blas, "N", n, P, repeats);
  std::printf("core,%s\ndsyrk_columns,%.9g\ndsyrk_rows,%.9g\ndtrsm,%.9g\ndpotrf,%.9g\ndgemv,%.9g\n",
              blas.core.c_str(), columns, rows, trsm_seconds(blas, n, P, repeats),
              potrf_seconds(blas, P, repeats), gemv_seconds(blas, n, P, repeats));
}

int main(int count, char** argument) try {
  if (count != 5) throw std::runtime_error("Usage: blas-limit <libopenblas.so> <n> <P> <repeats>");
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  report(load(argument[1]), std::atoi(argument[2]), std::atoi(argument[3]), std::atoi(argument[4]));
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}
