// Rows in files: written from R's vectors, and read by the core alone (core/rows/shards).
#include <memory>

#include "core/coefficients/coefficients.hpp"
#include "core/rows/shards/group_file.hpp"
#include "r_convert.h"
#include "r_shards.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericMatrix;
using Rcpp::NumericVector;

namespace {

const double* doubles(const List& rows, const char* name, R_xlen_t size) {
  if (!has(rows, name)) return nullptr;
  SEXP x = rows[name];
  if (TYPEOF(x) != REALSXP || Rf_xlength(x) != size)
    throw bsvm::InvalidInput(name, std::string("'") + name + "' must be doubles, one a cell.");
  return REAL(x);
}

// The last numbers of a vector that may have one for the intercept first.
bsvm::Vec last_of(const List& list, const char* name, bsvm::Index columns) {
  const NumericVector all = list[name];
  if (all.size() < columns) throw bsvm::InvalidInput(name, "A number is missing for a column.");
  return to_vec(all).tail(columns);
}

}  // namespace

std::shared_ptr<bsvm::ShardProblem> to_shard_problem(const List& problem, const List& model,
                                                     const List& known) {
  auto out = std::make_shared<bsvm::ShardProblem>();
  bsvm::Problem& rows = out->problem;
  rows = to_problem(known, model);
  const bool intercept = as<bool>(problem["intercept"]);
  const bsvm::Index p = rows.columns() - intercept, q = to_count(problem, "slopes");
  out->shift = as<double>(problem["shift"]);
  out->unit = as<double>(problem["unit"]);
  out->design = new bsvm::DenseBlock(last_of(problem, "center", p), last_of(problem, "scale", p),
                                     last_of(known, "units", p));
  std::unique_ptr<bsvm::Block> design(out->design);
  rows.blocks.clear();
  if (intercept) rows.blocks.emplace_back(new bsvm::OnesBlock(to_vec(known["units"])[0]));
  rows.blocks.push_back(std::move(design));
  out->terms = rows.sparse.terms;
  if (!rows.multipliers) return out;
  if (q == 0) {
    rows.multipliers.reset(new bsvm::OnesBlock);
    return out;
  }
  out->slopes = new bsvm::DenseBlock(bsvm::Vec::Zero(q), bsvm::Vec::Ones(q),
                                     last_of(known, "group_units", q));
  rows.multipliers.reset(out->slopes);
  return out;
}

// The powers of two that bring columns between these bounds (2, columns) near one.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_shard_units(Rcpp::NumericMatrix bounds, Rcpp::NumericVector center,
                                     Rcpp::NumericVector scale) {
  return to_numeric(bsvm::DenseBlock(bounds.begin(), 2, to_vec(center), to_vec(scale)).unit());
}

// rows: list(x, y, weight, offset, z, left_over, beside, group, n_groups), as in a problem, and how many
// rows and levels are before these: first_row, first_level. Several grouping factors: `sparse`, as in a
// problem, with `number`, which columns of all levels these are, from 1.
// [[Rcpp::export(rng = false)]]
void core_write_shard(std::string path, Rcpp::List rows) {
  with_core_errors([&] {
    const NumericMatrix x = rows["x"];
    bsvm::ShardShape shape;
    shape.first_row = static_cast<bsvm::Index>(as<double>(rows["first_row"]));
    shape.first_level = to_count(rows, "first_level");
    shape.n = x.nrow();
    shape.p = x.ncol();
    shape.groups = to_count(rows, "n_groups");
    if (has(rows, "z")) shape.q = Rf_ncols(rows["z"]);
    if (has(rows, "beside")) shape.beside = Rf_ncols(rows["beside"]);
    if (has(rows, "left_over")) shape.leaving = Rf_ncols(rows["left_over"]);
    shape.weight = has(rows, "weight");
    shape.offset = has(rows, "offset");
    bsvm::ShardViews views;
    views.x = x.begin();
    views.y = doubles(rows, "y", shape.n);
    views.weight = doubles(rows, "weight", shape.n);
    views.offset = doubles(rows, "offset", shape.n);
    views.z = doubles(rows, "z", shape.n * shape.q);
    views.beside = doubles(rows, "beside", shape.n * shape.beside);
    views.left_over = doubles(rows, "left_over", shape.n * shape.leaving);
    Rcpp::IntegerVector group, number;
    if (has(rows, "sparse")) {
      const List sparse = rows["sparse"];
      const Rcpp::IntegerVector start = sparse["p"], row = sparse["i"];
      number = Rcpp::IntegerVector(sparse["number"]) - 1;
      shape.sparse = number.size();
      shape.entries = row.size();
      if (start.size() != shape.sparse + 1)
        throw bsvm::InvalidInput("shards", "Sparse columns need a number each.");
      views.start = start.begin();
      views.row = row.begin();
      views.number = number.begin();
      views.value = doubles(sparse, "x", shape.entries);
    }
    if (shape.groups > 0) group = rows["group"];
    if (!views.y || (shape.groups > 0 && group.size() != shape.n))
      throw bsvm::InvalidInput("shards", "A shard needs a response and a level for each row.");
    views.group = group.begin();
    bsvm::ShardFile(path).write(shape, views);
    return 0;
  });
}

// How many rows, weights and so on a file has, if it is whole.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_shard_shape(std::string path) {
  return with_core_errors([&] {
    bsvm::ShardRows rows;
    bsvm::ShardFile(path).read(rows);
    const bsvm::ShardShape& shape = rows.shape;
    return List::create(_["n"] = static_cast<double>(shape.n), _["p"] = static_cast<double>(shape.p),
                        _["q"] = static_cast<double>(shape.q),
                        _["groups"] = static_cast<double>(shape.groups),
                        _["weight"] = shape.weight, _["offset"] = shape.offset);
  });
}

// A checksum of each file, from its head.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector core_shard_sums(std::vector<std::string> paths) {
  return with_core_errors([&] {
    Rcpp::CharacterVector out;
    for (const std::string& path : paths)
      out.push_back(std::to_string(bsvm::ShardFile(path).shape().sum));
    return out;
  });
}

// p: columns of the model, the intercept included; numbers: what a row has in a file.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_shard_size(double p, double numbers) {
  const bsvm::ShardSize size =
      bsvm::shard_size(static_cast<bsvm::Index>(p), static_cast<bsvm::Index>(numbers));
  return NumericVector::create(_["rows"] = static_cast<double>(size.rows),
                               _["lanes"] = static_cast<double>(size.lanes));
}

// The first row of each shard in working order, from 1, of levels with so many rows; large: those that
// are cut into pieces, from 1; size: what core_shard_size() gives.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_shard_starts(Rcpp::NumericVector level_rows, Rcpp::NumericVector large,
                                      double p, Rcpp::NumericVector size) {
  return with_core_errors([&] {
    const std::vector<bsvm::Index> rows(level_rows.begin(), level_rows.end());
    std::vector<bsvm::Index> levels(large.begin(), large.end());
    for (bsvm::Index& level : levels) --level;
    const std::vector<bsvm::Index> starts = bsvm::shard_starts(
        rows, levels, static_cast<bsvm::Index>(p),
        {static_cast<bsvm::Index>(size[0]), static_cast<bsvm::Index>(size[1])});
    NumericVector out(starts.begin(), starts.end());
    return NumericVector(out + 1);
  });
}

// More rows than this make a level a large one (core/rows/large_levels.hpp).
// [[Rcpp::export(rng = false)]]
double core_most_level_rows(double p, double q) {
  return static_cast<double>(
      bsvm::most_level_rows(static_cast<bsvm::Index>(p), static_cast<bsvm::Index>(q)));
}

// Two vectors of sums of rows, of p columns, q effects a level and so many large levels, added.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_add_sums(Rcpp::NumericVector one, Rcpp::NumericVector two, double p, double q,
                                  double large) {
  return with_core_errors([&] {
    bsvm::Layout layout;
    layout.p = static_cast<bsvm::Index>(p);
    layout.q = static_cast<bsvm::Index>(q);
    layout.large = static_cast<bsvm::Index>(large);
    layout.latent_sums = one.size() - bsvm::RowSums(layout).x.size(); // whatever else there is adds
    if (layout.latent_sums < 0 || one.size() != two.size())
      throw bsvm::InvalidInput("cluster", "An answer is not of the size of this model.");
    bsvm::RowSums out(layout), other(layout);
    out.x = to_vec(one);
    other.x = to_vec(two);
    out += other;
    return to_numeric(out.x);
  });
}

// A pointer to what makes sources of rows in these files. problem: list(center, scale, intercept,
// slopes, their number, shift and unit of the response); known: list(units, group_units, n,
// n_groups, large, leaving, latent); beside: how names of files of states begin; groups_to: those of
// files for the effects of groups, "" if these are wanted in memory.
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_shard_rows(Rcpp::List problem, Rcpp::List model, Rcpp::List known,
                              std::vector<std::string> paths, std::string beside,
                              std::string groups_to) {
  return with_core_errors([&] {
    const auto view = to_shard_problem(problem, model, known);
    const auto opened = std::make_shared<int>(0);
    const auto make = [=](const bsvm::Problem&, bsvm::Use use, int threads) {
      const std::string own = beside + std::to_string(++*opened) + "-";
      auto out = std::make_unique<bsvm::ShardSource>(*view, paths, own, use, threads);
      if (!groups_to.empty()) out->groups_to(groups_to + std::to_string(*opened) + "-");
      return std::unique_ptr<bsvm::DrawSource>(std::move(out));
    };
    return Rcpp::RObject(Rcpp::XPtr<RowsMaker>(new RowsMaker(make)));
  });
}

// The same for who reads all rows in turn, core_estimate().
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_shard_parts(Rcpp::List problem, Rcpp::List model, Rcpp::List known,
                               std::vector<std::string> paths) {
  return with_core_errors([&] {
    const auto view = to_shard_problem(problem, model, known);
    const auto read = [=](const std::function<void(const bsvm::Problem&)>& work) {
      bsvm::each_shard(*view, paths, work);
    };
    return Rcpp::RObject(Rcpp::XPtr<bsvm::RowParts>(new bsvm::RowParts(read)));
  });
}

// ---- effects of groups in a file --------------------------------------------------------------------

// list(mean, precision, regression) of some levels, from 1, of a file as the posterior has it, as
// arrays of the outside scale.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_read_groups(Rcpp::List file, Rcpp::NumericVector levels) {
  return with_core_errors([&] {
    const bsvm::GroupFileReader reader(as<std::string>(file["path"]));
    const bsvm::Index q = reader.about().effects, p = reader.about().columns, m = levels.size();
    if (hex_of(reader.about().sum) != as<std::string>(file["sum"]))
      throw bsvm::InvalidInput("shards", "The file of group effects '" + reader.about().path +
                                             "' is that of another fit.");
    std::vector<bsvm::Index> at;
    for (const double level : levels) at.push_back(static_cast<bsvm::Index>(level) - 1);
    bsvm::GroupPosterior out = reader.read(at);
    bsvm::groups_outside(to_vec(file["unit"]), to_vec(file["group_unit"]), out);
    return List::create(_["mean"] = to_array(out.mean, {q, m}),
                        _["precision"] = to_array(out.precision, {q, q, m}),
                        _["regression"] = to_array(out.regression, {q, p, m}));
  });
}

// One file of the levels of several, in their order. A level may be the last of one and the first of
// the next.
// [[Rcpp::export(rng = false)]]
void core_join_groups(std::vector<std::string> paths, std::string path) {
  with_core_errors([&] {
    bsvm::GroupFileWriter writer(path, 0);
    for (const std::string& from : paths) {
      const bsvm::GroupFileReader part(from);
      writer.add(part, writer.next() - part.first(), part.about().levels);
    }
    writer.finish()->kept = true;
    return 0;
  });
}
