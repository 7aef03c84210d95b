#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "block/elsewhere.hpp"
#include "rows/memory/memory_source.hpp"
#include "simulate.hpp"

// Rows that are elsewhere: what goes there and comes back goes through bytes.
namespace bsvm_test {

using Bytes = std::vector<unsigned char>;

inline void put(Bytes& to, const void* from, size_t size) {
  const auto* first = static_cast<const unsigned char*>(from);
  to.insert(to.end(), first, first + size);
}

inline Bytes pack_message(const std::vector<Index>& sizes, const Vec& numbers) {
  Bytes out;
  put(out, sizes.data(), sizes.size() * sizeof(Index));
  put(out, numbers.data(), numbers.size() * sizeof(double));
  return out;
}

inline std::vector<Index> unpack_sizes(const Bytes& from, size_t count) {
  std::vector<Index> out(count);
  std::memcpy(out.data(), from.data(), count * sizeof(Index));
  return out;
}

inline void unpack_numbers(const Bytes& from, size_t sizes, Vec& numbers) {
  if (numbers.size() == 0) return;  // memcpy may not be given null
  std::memcpy(numbers.data(), from.data() + sizes * sizeof(Index), numbers.size() * sizeof(double));
}

inline Bytes to_bytes(const State& state) {
  const Layout& layout = state.layout;
  return pack_message({layout.p, layout.q, layout.hyper, layout.scatter, layout.latent,
                       layout.latent_sums, layout.parameters},
                      state.x);
}
inline Bytes to_bytes(const RowSums& sums) {
  return pack_message({sums.p, sums.raw, sums.own, sums.parameters}, sums.x);
}
inline Bytes to_bytes(const Mat& m) {
  return pack_message({m.rows(), m.cols()}, Eigen::Map<const Vec>(m.data(), m.size()));
}

inline State state_from(const Bytes& bytes) {
  const std::vector<Index> sizes = unpack_sizes(bytes, 7);
  State out(Layout{sizes[0], sizes[1], sizes[2], sizes[3], true, sizes[4], sizes[5], sizes[6]});
  unpack_numbers(bytes, 7, out.x);
  return out;
}
inline RowSums sums_from(const Bytes& bytes) {
  const std::vector<Index> sizes = unpack_sizes(bytes, 4);
  RowSums out(Layout{sizes[0], 0, 0, sizes[1], true, 0, sizes[2], sizes[3]});
  unpack_numbers(bytes, 4, out.x);
  return out;
}
inline Mat matrix_from(const Bytes& bytes) {
  const std::vector<Index> sizes = unpack_sizes(bytes, 2);
  Vec numbers(sizes[0] * sizes[1]);
  unpack_numbers(bytes, 2, numbers);
  return Eigen::Map<const Mat>(numbers.data(), sizes[0], sizes[1]);
}

// One worker behind a wire.
class LoopbackSource : public RowSource {
 public:
  LoopbackSource(const Problem& problem, Use use) : worker_(problem, use, 1) {}

  void ask(Use use) override { worker_.ask(use); }

  void sums(const State& state, RowSums& out, Host& host) override {
    const State there = state_from(send(to_bytes(state)));
    RowSums answer(there.layout);
    worker_.sums(there, answer, host);
    out = sums_from(send(to_bytes(answer)));
  }

  Mat settle(const State& state, Settle how, double change) override {
    const State there = state_from(send(to_bytes(state)));
    return matrix_from(send(to_bytes(worker_.settle(there, how, change))));
  }

  void keep() override { worker_.keep(); }
  void back(const State& best) override { worker_.back(state_from(send(to_bytes(best)))); }
  GroupPosterior groups() const override { return worker_.groups(); }

  size_t longest = 0;  // message

 private:
  const Bytes& send(Bytes message) {
    longest = std::max(longest, message.size());
    wire_ = std::move(message);
    return wire_;
  }

  MemorySource worker_;
  Bytes wire_;
};

// Some of another block's rows, in its unit: all workers must agree on the inside scale.
class RowsOf : public Block {
 public:
  RowsOf(const Block& all, std::vector<int> rows) : all_(all), rows_(std::move(rows)) {}
  Index columns() const override { return all_.columns(); }
  const Vec& unit() const override { return all_.unit(); }
  void fill(const int* rows, Index r, const State& state,
            Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const override {
    std::vector<int> there(r);
    for (Index i = 0; i < r; ++i) there[i] = rows_[rows[i]];
    all_.fill(there.data(), r, state, out);
  }

 private:
  const Block& all_;
  std::vector<int> rows_;
};

// The rows of groups first .. last - 1 of a problem (or rows first .. last - 1 where
// there are no groups), as a worker would hold them.
class Share {
 public:
  Share(const Problem& whole, Index first, Index last, Use use) {
    std::vector<int> rows;
    for (Index i = 0; i < whole.n; ++i) {
      const Index at = whole.group ? whole.group[i] - 1 : i;
      if (at < first || at >= last) continue;
      rows.push_back(static_cast<int>(i));
      if (whole.group) group_.push_back(static_cast<int>(at - first + 1));
    }
    take(whole, rows);
    part_.group = whole.group ? group_.data() : nullptr;
    part_.groups = whole.group ? last - first : 0;
    source_.reset(new LoopbackSource(part_, use));
  }

  RowSource& source() { return *source_; }
  const RowSource& source() const { return *source_; }

 private:
  void take(const Problem& whole, const std::vector<int>& rows) {
    part_.n = static_cast<Index>(rows.size());
    for (int i : rows) {
      y_.push_back(whole.y[i]);
      weight_.push_back(whole.weight ? whole.weight[i] : 1);
      offset_.push_back(whole.offset ? whole.offset[i] : 0);
    }
    part_.y = y_.data();
    part_.weight = weight_.data();
    part_.offset = offset_.data();
    for (const auto& block : whole.blocks) part_.blocks.emplace_back(new RowsOf(*block, rows));
    if (whole.multipliers) part_.multipliers.reset(new RowsOf(*whole.multipliers, rows));
    part_.likelihood = Registry<Likelihood>::make("hinge", Params());
  }

  std::vector<double> y_, weight_, offset_;
  std::vector<int> group_;
  Problem part_;
  std::unique_ptr<LoopbackSource> source_;
};

// What is left of a problem whose rows are with a worker.
inline Problem elsewhere(Problem problem) {
  for (auto& block : problem.blocks) block.reset(new ElsewhereBlock(Vec(block->unit())));
  if (problem.multipliers)
    problem.multipliers.reset(new ElsewhereBlock(Vec(problem.multipliers->unit())));
  static_cast<Rows&>(problem) = Rows();
  check(problem);
  return problem;
}

// Two workers with whole groups each; their sums are added.
class SplitSource : public RowSource {
 public:
  SplitSource(const Problem& problem, Use use)
      : parts_(problem.group ? problem.groups : problem.n),
        low_(problem, 0, parts_ / 3, use), high_(problem, parts_ / 3, parts_, use) {}

  void ask(Use use) override {
    low_.source().ask(use);
    high_.source().ask(use);
  }

  void sums(const State& state, RowSums& out, Host& host) override {
    RowSums more(state.layout);
    low_.source().sums(state, out, host);
    high_.source().sums(state, more, host);
    out += more;
  }

  Mat settle(const State& state, Settle how, double change) override {
    return low_.source().settle(state, how, change) + high_.source().settle(state, how, change);
  }

  void keep() override {
    low_.source().keep();
    high_.source().keep();
  }

  void back(const State& best) override {
    low_.source().back(best);
    high_.source().back(best);
  }

  GroupPosterior groups() const override {
    const GroupPosterior a = low_.source().groups(), b = high_.source().groups();
    const auto beside = [](const Mat& left, const Mat& right) {
      Mat out(left.rows(), left.cols() + right.cols());
      out << left, right;
      return out;
    };
    GroupPosterior out;
    out.mean = beside(a.mean, b.mean);
    out.precision = beside(a.precision, b.precision);
    out.regression = beside(a.regression, b.regression);
    return out;
  }

 private:
  Index parts_;  // groups, or rows where there are none
  Share low_, high_;
};

}  // namespace bsvm_test
