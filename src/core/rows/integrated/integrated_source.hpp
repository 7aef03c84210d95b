#pragma once
#include <memory>
#include <vector>

#include "base/host.hpp"
#include "integral/pair/pair_grid.hpp"
#include "integrated_rows.hpp"
#include "model/current_likelihood.hpp"
#include "model/group_posterior.hpp"
#include "model/row_sums.hpp"
#include "random/draws.hpp"

namespace bsvm {

// Integrals are exact to many digits, or quick: to seven; of two effects without a closed form a
// function that is smooth in the parameters, near the exact one (integral/pair/pair_grid.hpp).
enum class Precision { exact, quick };

// All rows in memory, the effects of one grouping factor (Problem::integrated) integrated out:
// one effect, or two (their covariance F F', or independent). Those of other factors
// are coefficients like the rest, after the dense columns.
//
// A point is (b, theta): the d coefficients on the inside scale, then the free parameters of the
// priors of the integrated effects (prior/prior.hpp), on the outside one, then the likelihood's.
class IntegratedSource {
 public:
  IntegratedSource(const Problem& problem, int threads, Precision precision = Precision::exact);
  ~IntegratedSource();

  Index coefficients() const { return rows_.coefficients(); }  // d
  // 1: log sd; 2: two log sds; 3: log F_11, F_21, log F_22; a prior that is fixed has none; and
  // those of the likelihood.
  Index free() const { return free_; }

  // (d, d) sum of weight c c' over all rows, c what multiplies the coefficients; lower triangle.
  Mat gram() const { return rows_.gram(); }

  // By how much sums at nearby points may be off, one from another.
  double noise() const { return noise_; }

  // Log-likelihood with the effects integrated out, its gradient (`linear`) and minus its
  // Hessian (`curvature`) at a point; RowSums(d + free).
  void sums(ConstVecRef point, Depth depth, RowSums& out, Host& host);

  // Of points, a column each, log G_g (m, points), G_g the integral of a group's rows; and log G_g
  // less what it is without row i (n, points), rows as the problem has them: the log of
  // p(y_i | the others of its group).
  Mat group_terms(ConstMatRef points, Host& host);
  Mat row_terms(ConstMatRef points, Host& host);

  // E u_g (q, m), the inverse of its covariance (q q, m), and `regression` (d q, m), B_g', of
  // E[u_g | b] = mean - B_g (b - b at the point); all inside.
  GroupPosterior law(ConstVecRef point, Host& host);

  // The log-likelihood with the effects integrated out, and a draw of all effects given a point:
  // (m), inside; of one effect with a closed form.
  double draw(ConstVecRef point, const DrawKey& key, Vec& effects, Host& host);

  // Quantiles of the effects on the outside scale, a mixture over points (a column each) with
  // these weights: (probabilities, q m), effects of a level adjoining.
  Mat quantiles(ConstMatRef points, ConstVecRef weights, ConstVecRef probabilities, Host& host);

  // How the effects' distributions at points (a column each) differ from normal ones, where the
  // coefficients have a Gaussian distribution that moves the effects by a covariance `moved`
  // (integrated_shapes.cpp), (q q, groups x points): coefficients of Hermite's polynomials of
  // orders 0 .. kShapeLast, a column a group, all groups of a point adjoining. Of two effects, of
  // projections in kDirections directions.
  static constexpr Index kShapeLast = 7, kDirections = 6;
  Mat shapes(ConstMatRef points, ConstMatRef moved, Host& host);

 private:
  struct Worker;
  // The prior of effects first .. of the level, and its free parameters.
  struct Part {
    const Prior* prior;
    Index first, start, size;
  };
  // The effects' scale at a point: u = F e inside. What the integrals are differentiated by, (log
  // f00) or (log f00, f10, log f11), is for each parameter a free one, or none (-1), and
  // times a factor.
  struct Scale {
    PairScale f;
    Index to[3] = {-1, -1, -1};
    double factor[3] = {1, 1, 1};
  };

  // A likelihood with parameters moved by steps, for derivatives by differences: by `step` of the
  // parameters j and k, or of one.
  struct Moved {
    Index j, k;
    double step;
    CurrentLikelihood likelihood;
  };

  void find_parts(const Problem& problem);
  void make_integrals(Worker& worker) const;
  void follow(ConstVecRef point);
  void find_moved(Depth depth);
  double near_step() const { return rows_.effects() == 2 ? 3e-4 : 3e-5; }
  double far_step() const { return 10 * near_step(); }
  void add_parameters(const PairRows& of, const PairScale& scale, Depth depth,
                      Worker& worker) const;
  Scale scale_at(ConstVecRef theta) const;
  void add_part(const Part& part, ConstVecRef theta, Scale& out) const;
  // Runs work(group, rows, worker, lane) for all groups at a point.
  template <class Work>
  void each_group(ConstVecRef point, Host& host, Work work);
  void prepare_terms();
  const Vec& logs_without(const PairRows& of, const PairScale& scale, Worker& worker) const;
  double log_integral(const PairRows& of, const PairScale& scale, Worker& worker) const;
  Vec row_terms_of(const PairRows& of, const PairScale& scale, Worker& worker) const;
  void add(const Scale& scale, Depth depth, Worker& worker, RowSums& out) const;
  void law_of(Index group, const PairRows& rows, const Scale& scale, Worker& worker,
              GroupPosterior& out);
  struct Mixture;
  void quantiles_of(const PairRows& rows, Index first, Index effect, const Mixture& of,
                    Worker& worker, VecRef out) const;
  void line_shape(const EffectRows& of, double s, double w2, Worker& worker, VecRef out) const;
  void plane_masses(const PairRows& of, const PairScale& scale, const Eigen::Vector2d& mean,
                    const Eigen::Matrix2d& axes, const Eigen::Matrix2d& w, const Vec& axis,
                    Arr& mass) const;
  void plane_shape(Index group, const PairRows& of, const PairScale& scale,
                   const Eigen::Matrix2d& w, Worker& worker, VecRef out);

  CurrentLikelihood likelihood_;
  Index parameters_;      // of the likelihood
  Vec followed_;          // (parameters) what likelihood_ is at
  std::vector<Moved> moved_;
  IntegratedRows rows_;
  int threads_;
  Precision precision_;
  double noise_ = 0;
  std::vector<PairGrid::Frame> frames_;  // (groups) if quick, of two effects
  std::vector<Part> parts_;
  Index free_ = 0;
  std::vector<Worker> workers_;  // one a thread
};

}  // namespace bsvm
