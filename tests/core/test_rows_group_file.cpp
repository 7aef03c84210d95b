#include <doctest/doctest.h>

#include <fstream>

#include "base/error.hpp"
#include "fitting.hpp"
#include "rows/make_source.hpp"
#include "rows/shards/group_file.hpp"
#include "shard_files.hpp"

using namespace bsvm_test;

namespace {

GroupPosterior made_up(Index q, Index p, Index levels, int seed) {
  std::srand(static_cast<unsigned>(seed));
  GroupPosterior out;
  out.mean = Mat::Random(q, levels);
  out.precision = Mat::Random(q * q, levels);
  out.regression = Mat::Random(p * q, levels);
  return out;
}

Options six_passes() {
  Options out;
  out.max_passes = 6;
  return out;
}

void change_byte(const std::string& path, std::streamoff at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(at);
  const char old = static_cast<char>(file.get());
  file.seekp(at);
  file.put(static_cast<char>(old ^ 1));
}

}  // namespace

TEST_CASE("a file of group effects gives levels back in any order") {
  const Folder folder;
  for (Index q : {1, 2}) {
    const GroupPosterior first = made_up(q, 3, 5, 1), second = made_up(q, 3, 4, 2);
    GroupFileWriter writer(folder.file("effects"), 0);
    writer.add(first, 0);
    writer.add(made_up(q, 3, 0, 3), 0);
    writer.add(second, 0);
    CHECK(!std::filesystem::exists(folder.path / "effects"));
    const auto kept = writer.finish();
    CHECK(kept->levels == 9);
    const GroupFileReader reader(kept->path);
    CHECK(reader.about().sum == kept->sum);
    const GroupPosterior found = reader.read({8, 0, 1, 2, 5, 5});
    CHECK(found.mean.col(0) == second.mean.col(3));
    CHECK(found.precision.col(1) == first.precision.col(0));
    CHECK(found.regression.col(3) == first.regression.col(2));
    CHECK(found.mean.col(4) == second.mean.col(0));
    CHECK(found.regression.col(5) == found.regression.col(4));
    CHECK_THROWS_AS(reader.read({9}), InvalidInput);

    GroupFileWriter joined(folder.file("joined"), 0);
    joined.add(reader, 0, reader.about().levels);
    joined.add(GroupFileReader(kept->path), 2, kept->levels);
    const auto both = joined.finish();
    CHECK(GroupFileReader(both->path).read({9, 15}).mean.col(1) == second.mean.col(3));
    CHECK(both->sum != kept->sum);
  }
  // nobody has kept them
  CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("a file of group effects that is not whole is refused") {
  const Folder folder;
  const std::string path = folder.file("effects");
  std::shared_ptr<const GroupFile> file;
  const auto write = [&] {
    file.reset();  // which removes it
    GroupFileWriter writer(path, 0);
    writer.add(made_up(1, 2, 3, 1), 0);
    file = writer.finish();
  };
  { GroupFileWriter given_up(path, 0); }
  CHECK(std::filesystem::is_empty(folder.path));
  CHECK_THROWS_AS(GroupFileReader{path}, InvalidInput);
  write();
  change_byte(path, 0);  // the version
  CHECK_THROWS_AS(GroupFileReader{path}, InvalidInput);
  write();
  change_byte(path, 24);  // how many levels
  CHECK_THROWS_AS(GroupFileReader{path}, InvalidInput);
  write();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  CHECK_THROWS_AS(GroupFileReader{path}, InvalidInput);
  write();
  change_byte(path, 56 + 5 * 8 + 3);  // of the second level
  const GroupFileReader reader(path);
  reader.read({0, 2});
  CHECK_THROWS_AS(reader.read({1}), InvalidInput);
  CHECK_THROWS_AS(GroupFileWriter(folder.file("none/effects"), 0).finish(), InvalidInput);
}

TEST_CASE("shards write the effects of rows in memory to a file") {
  for (Index q : {1, 2}) {
    const Data data = large_data(q, 900);
    const Problem whole = usual_problem(data);
    Host host;
    MemorySource memory(whole, Use::augmented, 1);
    fit(whole, memory, six_passes(), host);
    const GroupPosterior here = memory.groups();
    Shards shards(data, 1);
    ShardSource source(shards.view, shards.paths, shards.beside(), Use::augmented, 1);
    source.groups_to(shards.folder().file("effects-"));
    fit(elsewhere_of(whole, data), source, six_passes(), host);
    const GroupPosterior there = source.groups();
    REQUIRE(there.file);
    CHECK(there.mean.size() == 0);
    std::vector<Index> all(900);
    for (size_t g = 0; g < all.size(); ++g) all[g] = static_cast<Index>(g);
    const GroupPosterior found = GroupFileReader(there.file->path).read(all);
    CHECK(found.mean == here.mean);
    CHECK(found.precision == here.precision);
    CHECK(found.regression == here.regression);
  }
}
