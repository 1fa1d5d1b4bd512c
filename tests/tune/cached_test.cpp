#include "kolmo/tune/cached.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "kolmo/base/error.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo::tune {
namespace {

TEST(TuneCached, MeasuresNothingThatItCannotKeep) {
  const testing_io::TemporaryFolder folder;
  std::ofstream(folder / "file") << "in the way";
  int calls = 0;
  const Space space(std::vector<Parameter>{{"block", {1, 2}}});
  const Evaluate evaluate = [&](const Values&) { return 1e-6 * ++calls; };
  TuneOptions options;
  options.budget = 0.01;
  EXPECT_THROW(tune_cached("f", space, evaluate, {Store(folder / "file/store"), "1"}, options),
               InvalidArgument);
  const Store store(folder / "store");
  std::filesystem::create_directories(store.root() + "/v1");
  std::filesystem::create_directory_symlink(folder / "elsewhere",
                                            store.root() + "/v1/" + environment_of({}, "function").id());
  EXPECT_THROW(tune_cached("f", space, evaluate, {store, "1"}, options), InvalidArgument);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace kolmo::tune
