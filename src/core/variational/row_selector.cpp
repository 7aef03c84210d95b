// Selection from the sums of a row source, with any grouping factor. The precision of all columns
// is formed.
#include <algorithm>
#include <cmath>
#include <limits>

#include "coefficients/selection.hpp"
#include "selector.hpp"

namespace bsvm {

namespace {

class RowSelector : public Selector {
 public:
  RowSelector(const Model& problem, RowSource& source)
      : side_(problem, source.extra()), selection_(problem, side_), source_(source),
        own_(side_.layout()), state_(side_.layout()), best_(state_), best_own_(own_),
        sums_(side_.layout()) {}

  void start(int number, const Options& options) override {
    own_ = side_.start(number == 0 ? options.start : Vec());
    if (number > 0) selection_.draw(number, options.seed, own_);
    begin();
  }

  void start_at(const Vec& inclusion) override {
    own_ = side_.start(Vec());
    selection_.set(own_, inclusion);
    begin();
  }

  void hold(double factor) override {
    hold_first(side_, factor, own_);
    state_ = selection_.effective(own_);
  }

  void release() override { own_.slopes() = state_.slopes() = 2; }

  double pass(double damping, Host& host) override {
    state_.damping() = damping;
    source_.sums(state_, sums_, host);
    return state_.begun() ? sums_.value() + own_.prior_value()
                          : -std::numeric_limits<double>::infinity();
  }

  double advance(Step how, double longest, Host& host) override {
    const double pull = is_held(own_) ? 0 : side_.parameter_gradient(state_, sums_);
    const Vec parameters = moved_parameters(side_, state_, sums_, how, longest);
    const RowModel rows = row_model(sums_, state_.mean());
    const double square = climb(rows, how, host) + side_.latent().change(sums_, state_);
    if (how == Step::bold) {
      update_boldly();
      climb(rows, how, host);
    }
    own_.group_logdet() = sums_.group_logdet();
    if (parameters.size() > 0) side_.set_parameters(own_, parameters);
    const Vec before = state_.mean();
    state_ = selection_.effective(own_);
    state_.step() = state_.mean() - before;
    const Mat groups = source_.settle(state_, Settle::advance, 1);
    side_.latent().update(sums_, own_);
    side_.update_priors(own_, groups, how == Step::bold ? kBoldReach : 1);
    state_.hyper() = own_.hyper();
    state_.group_prior() = own_.group_prior();
    state_.latent() = own_.latent();
    const double all = square + sums_.group_decrement() + sums_.group_change() + pull * pull;
    return std::sqrt(std::max(all, 0.0));  // at the top rounding may make it less
  }

  void keep() override {
    best_ = state_;
    best_own_ = own_;
    source_.keep();
  }

  void back() override {
    state_ = best_;
    own_ = best_own_;
    source_.back(best_);
  }

  void report(Result& out) const override {
    out.state = best_;
    out.groups = source_.groups();
    out.inclusion = selection_.report(
        best_own_, best_own_.inverse_factor().colwise().norm().transpose());
  }

 private:
  void begin() {
    own_.slopes() = 2;
    state_ = selection_.effective(own_);
  }

  // Returns the squared norm of the gradient there was.
  double climb(const RowModel& rows, Step how, Host& host) {
    const double square = improve_gaussian(side_, selection_, rows, own_, host);
    own_.begun() = 1;
    if (how == Step::careful) return square;
    return square + improve_inclusion(selection_, rows, own_, host);
  }

  void update_boldly() {
    const Vec variance = own_.inverse_factor().colwise().squaredNorm();
    side_.update_boldly(own_, side_.second_moments(own_), followed(side_, variance, own_));
  }

  const Coefficients side_;
  const Selection selection_;
  RowSource& source_;
  State own_, state_;            // of v, and of the effective coefficients
  State best_, best_own_;
  RowSums sums_;
};

}  // namespace

std::unique_ptr<Selector> row_selector(const Model& problem, RowSource& source) {
  return std::unique_ptr<Selector>(new RowSelector(problem, source));
}

}  // namespace bsvm
