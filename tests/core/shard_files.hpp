#pragma once
#include <filesystem>
#include <random>

#include "block/elsewhere.hpp"
#include "rows/shards/shard_source.hpp"
#include "simulate.hpp"

// Rows of made-up problems in files.
namespace bsvm_test {

// A folder of its own, which goes with it.
struct Folder {
  std::filesystem::path path;
  Folder() : path(std::filesystem::temp_directory_path() / ("shards-" + std::to_string(std::random_device()()))) {
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

inline Data large_data(Index q, Index groups, Index p = 4) {
  Shape shape;
  shape.n = 21000;
  shape.p = p;
  shape.q = q;
  shape.groups = groups;
  shape.large = groups > 0 ? 3000 : 0;
  shape.ones = q == 1;
  shape.seed = 5;
  return simulate(shape);
}

inline Mat taken(const Mat& from, const std::vector<int>& rows) {
  Mat out(static_cast<Index>(rows.size()), from.cols());
  for (size_t i = 0; i < rows.size(); ++i) out.row(static_cast<Index>(i)) = from.row(rows[i]);
  return out;
}

// The problem without its rows.
inline Problem elsewhere_of(const Problem& whole, const Data& data,
                            Problem (*make)(const Data&) = usual_problem) {
  Problem out = make(data);
  out.blocks[0].reset(new ElsewhereBlock(Vec(whole.blocks[0]->unit())));
  if (out.multipliers) out.multipliers.reset(new ElsewhereBlock(Vec(whole.multipliers->unit())));
  static_cast<Rows&>(out) = Rows();
  check(out);
  return out;
}

// The rows of a problem in shards of `lanes` lanes, and the problem that looks at them.
class Shards {
 public:
  Shards(const Data& data, Index lanes, Problem (*make)(const Data&) = usual_problem)
      : data_(data), whole_(make(data)) {
    std::vector<Index> large;
    for (const LargeLevel& level : whole_.large) large.push_back(level.level);
    const Partition order = cut(whole_.group, whole_.n, whole_.groups, whole_.columns(), large);
    const bool grouped = whole_.groups > 0;
    std::vector<Index> rows(static_cast<size_t>(grouped ? whole_.groups : whole_.n), 1);
    if (grouped)
      for (size_t g = 0; g < rows.size(); ++g)
        rows[g] = order.group_start[g + 1] - order.group_start[g];
    std::vector<Index> starts = shard_starts(rows, large, whole_.columns(), {whole_.n, lanes});
    starts.push_back(whole_.n);
    for (size_t k = 0; k + 1 < starts.size(); ++k) write(order, starts[k], starts[k + 1], grouped);
    view.problem = make(data);
    const Vec units = view.problem.blocks[0]->unit();
    view.design = new DenseBlock(data.center, data.scale, units);
    view.problem.blocks[0].reset(view.design);
    if (view.problem.multipliers && data.z.cols() > 0) {
      const Vec unit = view.problem.multipliers->unit();
      view.slopes = new DenseBlock(Vec::Zero(unit.size()), Vec::Ones(unit.size()), unit);
      view.problem.multipliers.reset(view.slopes);
    }
  }

  const Problem& whole() const { return whole_; }
  std::string beside() const { return folder_.file("state-"); }
  Folder& folder() { return folder_; }
  ShardProblem view;
  std::vector<std::string> paths;

 private:
  void write(const Partition& order, Index from, Index to, bool grouped) {
    const std::vector<int> rows(order.order.begin() + from, order.order.begin() + to);
    // A level without rows is in the shard of the one before it.
    const auto level = [&](Index row) { return data_.group[order.order[static_cast<size_t>(row)]]; };
    const int first = grouped && from > 0 ? level(from) : 1;
    const int last = !grouped ? 0 : to == whole_.n ? static_cast<int>(whole_.groups)
                     : level(to) == level(to - 1)  ? level(to) : level(to) - 1;
    ShardShape shape;
    shape.first_row = from;
    shape.first_level = first - 1;
    shape.n = to - from;
    shape.p = data_.x.cols();
    shape.q = grouped ? data_.z.cols() : 0;
    shape.groups = grouped ? last - first + 1 : 0;
    shape.weight = shape.offset = true;
    const Mat x = taken(data_.x, rows), z = shape.q > 0 ? taken(data_.z, rows) : Mat();
    const Mat y = taken(data_.y, rows), weight = taken(data_.weight, rows),
              offset = taken(data_.offset, rows);
    std::vector<int> group;
    if (grouped)
      for (int row : rows) group.push_back(data_.group[row] - first + 1);
    paths.push_back(folder_.file("shard-" + std::to_string(paths.size())));
    ShardFile(paths.back())
        .write(shape, ShardViews{x.data(), y.data(), weight.data(), offset.data(), z.data(),
                                 group.data()});
  }

  const Data& data_;
  Problem whole_;
  Folder folder_;
};

}  // namespace bsvm_test
