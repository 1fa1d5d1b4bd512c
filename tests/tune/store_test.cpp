#include "kolmo/tune/store.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <regex>

#include "kolmo/base/error.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/sim/simulated_measurer.hpp"

namespace kolmo::tune {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreTest : public testing::Test {
 protected:
  static Environment environment(std::string device = "NVIDIA H200", std::string driver = "580.1") {
    Environment e;
    e.device = device, e.kind = "cuda", e.capability = "9.0", e.processors = 132, e.driver = driver;
    e.library_version = "0.1.0", e.mode = "stream_cold";
    return e;
  }
  static Key key(std::string kernel = "vector_add", std::int64_t n = 1000, std::string hash = "abc") {
    return {kernel, hash, "f32", {{"...", bucket_of(n)}}, {{"option k", "4"}}};
  }
  static Store::Miss miss(std::string kernel = "vector_add") {
    return {key(std::move(kernel)),
            {{{"T", DType::f32}}, {{"...", 999}}, {"z"}, {{"k", "4"}, {"alpha", "0.1"}}}};
  }
  static Profile profile(const Key& key, int winner = 2) {
    const Space space(std::vector<Parameter>{{"variant", {0, 1, 2}}});
    std::vector<double> times{4e-6, 3e-6, 2e-6};
    std::swap(times[2], times[std::size_t(winner)]);
    SimulatedMeasurer m(times, {}, 1);
    return parse_profile(to_json(make_profile(key, space, tune("x", space, m))));
  }
  fs::path file_of(const Environment& e, const Key& k) const {
    return root_ / "v1" / e.id() / k.kernel / (k.id() + ".json");
  }
  static std::string read(const fs::path& file) { return testing_io::content_of(file.string()); }
  static void write(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }
  std::size_t files() const {
    std::size_t n = 0;
    for (const auto& f : fs::recursive_directory_iterator(root_)) n += f.is_regular_file();
    return n;
  }

  testing_io::TemporaryFolder folder_;
  fs::path root_ = folder_ / "store";
  Store store_{root_.string()};
};

TEST(Bucket, PowersOfTwoTo256ThenFourPerOctave) {
  EXPECT_EQ(bucket_of(0), (Bucket{0, 0}));
  EXPECT_EQ(bucket_of(1), (Bucket{1, 1}));
  EXPECT_EQ(bucket_of(3), (Bucket{3, 4}));
  EXPECT_EQ(bucket_of(200), (Bucket{129, 256}));
  EXPECT_EQ(bucket_of(257), (Bucket{257, 320}));
  EXPECT_EQ(bucket_of(512), (Bucket{449, 512}));
  EXPECT_EQ(bucket_of(1'250'000), (Bucket{1048577, 1310720}));
  EXPECT_EQ(bucket_edge(INT64_MAX), std::int64_t(1) << 62);
  for (std::int64_t n = 1, expected = 1; n < 20000; ++n) {  // buckets adjoin without gap or overlap
    const Bucket b = bucket_of(n);
    ASSERT_LE(b.low, n);
    ASSERT_GE(b.high, n);
    if (n == b.low) {
      ASSERT_EQ(b.low, expected);
      expected = b.high + 1;
    }
    ASSERT_EQ(bucket_of(b.high), b);
  }
}

TEST_F(StoreTest, WhatIsPutIsFoundAgain) {
  const Profile p = profile(key());
  store_.put(environment(), p);
  const auto got = store_.get(environment(), key());
  ASSERT_TRUE(got);
  EXPECT_EQ(to_json(*got), to_json(p));
  EXPECT_EQ(got->winner, "c2");
  EXPECT_EQ(got->configs.size(), 3u);
  EXPECT_EQ(got->winning().params.at("variant"), 2);
  EXPECT_NEAR(got->winning().finding.gain.median, 2, 0.1);
  EXPECT_GE(got->expires - got->created, 86400 * 56 / 10);
  EXPECT_LE(got->expires - got->created, 86400 * 84 / 10);
  EXPECT_EQ(files(), 2u);  // the manifest and the profile, no temporary file
}

TEST_F(StoreTest, EveryPartOfTheKeyCounts) {
  store_.put(environment(), profile(key()));
  Key other = key();
  other.extras["option k"] = "5";
  EXPECT_FALSE(store_.get(environment(), other));
  EXPECT_FALSE(store_.get(environment(), key("vector_add", 2000)));
  EXPECT_FALSE(store_.get(environment(), key("vector_add", 1000, "other sources")));
  EXPECT_FALSE(store_.get(environment(), key("digamma")));
  EXPECT_TRUE(store_.get(environment(), key("vector_add", 900)));  // the same bucket
  Environment limited = environment();
  limited.power_limit_watts = 500;
  EXPECT_FALSE(store_.get(limited, key()));
}

TEST_F(StoreTest, TheLadder) {
  EXPECT_FALSE(store_.find(environment(), key()));
  store_.put(environment("NVIDIA H100", "570.1"), profile(key(), 0));
  EXPECT_EQ(store_.find(environment(), key())->origin, Origin::capability);
  store_.put(environment("NVIDIA H200", "570.1"), profile(key(), 1));
  EXPECT_EQ(store_.find(environment(), key())->origin, Origin::foreign);
  store_.put(environment(), profile(key(), 2));
  EXPECT_EQ(store_.find(environment(), key())->origin, Origin::exact);
  EXPECT_EQ(store_.find(environment(), key())->profile.winner, "c2");
  Environment old = environment("NVIDIA A100");
  old.capability = "8.0";
  EXPECT_FALSE(store_.find(old, key()));
  EXPECT_FALSE(store_.find(environment(), key("vector_add", 1000, "other sources")));
}

/// Every kind of damage to the file gives a miss, never a wrong configuration and never an error.
TEST_F(StoreTest, DamagedFilesAreMisses) {
  store_.put(environment(), profile(key()));
  const fs::path file = file_of(environment(), key());
  const std::string good = read(file);
  for (std::size_t n = 0; n < good.size(); n += 37) {
    write(file, good.substr(0, n));
    EXPECT_FALSE(store_.get(environment(), key())) << "truncated to " << n;
  }
  for (std::size_t i = 0; i < good.size(); i += 11) {
    std::string bad = good;
    bad[i] = char(bad[i] ^ 1);
    write(file, bad);
    const auto got = store_.get(environment(), key());
    if (got) {
      EXPECT_EQ(to_json(*got), good) << "a flipped bit at " << i << " was believed";
    }
  }
  write(file, std::string(100, '['));
  EXPECT_FALSE(store_.get(environment(), key()));
  write(file, std::string(5 << 20, ' ') + good);
  EXPECT_FALSE(store_.get(environment(), key())) << "too large";
  EXPECT_TRUE(store_.all().empty());
  store_.put(environment(), profile(key()));
  EXPECT_TRUE(store_.get(environment(), key()));
}

TEST_F(StoreTest, AFileUnderAnothersNameIsAMiss) {
  store_.put(environment(), profile(key()));
  store_.put(environment(), profile(key("vector_add", 5000)));
  fs::copy_file(file_of(environment(), key("vector_add", 5000)), file_of(environment(), key()),
                fs::copy_options::overwrite_existing);
  EXPECT_FALSE(store_.get(environment(), key()));
  std::string why;
  EXPECT_EQ(store_.all([&](const std::string&, const std::string& reason) { why = reason; }).size(), 1u);
  EXPECT_THAT(why, HasSubstr("does not belong to the key"));
}

TEST_F(StoreTest, AFolderUnderAnothersNameIsIgnored) {
  store_.put(environment("NVIDIA H100"), profile(key()));
  fs::rename(root_ / "v1" / environment("NVIDIA H100").id(), root_ / "v1" / environment().id());
  EXPECT_FALSE(store_.find(environment(), key()));
  EXPECT_TRUE(store_.all().empty());
}

TEST_F(StoreTest, ALaterSchemaIsAMissAndIsLeftAlone) {
  store_.put(environment(), profile(key()));
  const fs::path file = file_of(environment(), key());
  std::string later = read(file);
  later.replace(later.find("\"schema\": 1"), 11, "\"schema\": 2");
  write(file, later);
  EXPECT_FALSE(store_.get(environment(), key()));
  EXPECT_THROW(store_.put(environment(), profile(key())), InvalidArgument);
  store_.collect(UINT64_MAX);
  EXPECT_EQ(read(file), later);
}

TEST_F(StoreTest, EightProcessesWriteAtOnce) {
  constexpr int writers = 8, rounds = 40;
  std::vector<Profile> profiles;
  for (int w = 0; w < 3; ++w) profiles.push_back(profile(key(), w));
  for (int w = 0; w < writers; ++w) {
    if (::fork() == 0) {
      try {
        for (int i = 0; i < rounds; ++i) {
          store_.put(environment(), profiles[std::size_t(w + i) % 3]);
          const auto got = store_.get(environment(), key());
          if (!got || (to_json(*got) != to_json(profiles[0]) && to_json(*got) != to_json(profiles[1]) &&
                       to_json(*got) != to_json(profiles[2])))
            ::_exit(2);
        }
      } catch (...) {
        ::_exit(3);
      }
      ::_exit(0);
    }
  }
  for (int w = 0; w < writers; ++w) {
    int status = -1;
    ::wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(store_.get(environment(), key()));
  EXPECT_EQ(files(), 2u);
}

TEST_F(StoreTest, AWriterKilledAtAnyTimeLeavesAValidStore) {
  const std::string before = to_json(profile(key(), 0)), after = to_json(profile(key(), 1));
  const Profile old_profile = parse_profile(before), new_profile = parse_profile(after);
  store_.put(environment(), old_profile);
  for (int microseconds = 0; microseconds < 4000; microseconds += 100) {
    const pid_t child = ::fork();
    if (child == 0) {
      while (true) {
        store_.put(environment(), new_profile);
        store_.put(environment(), old_profile);
      }
    }
    ::usleep(useconds_t(microseconds));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto got = store_.get(environment(), key());
    ASSERT_TRUE(got);
    EXPECT_THAT(to_json(*got), testing::AnyOf(before, after));
  }
  for (const auto& f : fs::recursive_directory_iterator(root_))  // as if an hour had passed
    if (f.path().extension() == ".tmp")
      fs::last_write_time(f.path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
  store_.collect(UINT64_MAX);
  EXPECT_EQ(files(), 2u);
}

TEST_F(StoreTest, AFullDiskLeavesWhatWasThere) {
  store_.put(environment(), profile(key(), 0));
  const std::string before = read(file_of(environment(), key()));
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit full{100, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &full);
  std::string what;
  try {
    store_.put(environment(), profile(key(), 1));
  } catch (const DeviceError& e) {
    what = e.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_THAT(what, HasSubstr("writing failed"));
  EXPECT_EQ(read(file_of(environment(), key())), before);
  EXPECT_EQ(files(), 2u);
}

TEST_F(StoreTest, AFolderThatCannotBeWrittenSaysSo) {
  write(folder_ / "file", "");
  Store blocked(folder_ / "file/store");
  EXPECT_THROW(blocked.require_writable(), InvalidArgument);
  EXPECT_THROW(blocked.put(environment(), profile(key())), InvalidArgument);
  EXPECT_FALSE(blocked.find(environment(), key()));
  EXPECT_THAT(blocked.misses(environment()), IsEmpty());
  Store nowhere("/proc/kolmo");
  EXPECT_THROW(nowhere.add_miss(environment(), miss()), InvalidArgument);
}

/// Anything but a regular file is a miss. Nothing waits for it, and nothing is written through it.
TEST_F(StoreTest, LinksAndPipesAreNotFollowed) {
  store_.put(environment(), profile(key()));
  const fs::path file = file_of(environment(), key()),
                 manifest = file.parent_path().parent_path() / "manifest.json";
  const std::string mine = folder_ / "mine";
  fs::copy_file(file, mine);
  const std::string before = read(mine);
  for (const fs::path& place : {file, manifest}) {
    fs::remove(place);
    fs::create_symlink(mine, place);
    EXPECT_FALSE(store_.find(environment(), key()));
    store_.put(environment(), profile(key(), 1));
    EXPECT_TRUE(store_.find(environment(), key()));
    fs::remove(place);
    ASSERT_EQ(::mkfifo(place.c_str(), 0600), 0);
    EXPECT_FALSE(store_.find(environment(), key()));
    EXPECT_TRUE(store_.all().empty());
    store_.require_writable(environment(), key());
    store_.put(environment(), profile(key(), 1));
    EXPECT_TRUE(store_.find(environment(), key()));
  }
  EXPECT_EQ(read(mine), before);
}

TEST_F(StoreTest, LinkedFoldersAreNeitherReadNorWrittenNorCollected) {
  Store elsewhere(folder_ / "elsewhere");
  elsewhere.put(environment(), profile(key()));
  const fs::path theirs = folder_ / "elsewhere/v1";
  write(theirs / environment().id() / "vector_add" / "letter.txt", "keep me");
  fs::create_directories(root_ / "v1");
  fs::create_directory_symlink(theirs / environment().id(), root_ / "v1" / environment().id());
  EXPECT_FALSE(store_.find(environment(), key()));
  EXPECT_TRUE(store_.all().empty());
  EXPECT_EQ(store_.collect(0).files, 0u);
  EXPECT_TRUE(fs::exists(theirs / environment().id() / "vector_add" / "letter.txt"));
  EXPECT_THROW(store_.put(environment(), profile(key())), InvalidArgument);
  EXPECT_THROW(store_.require_writable(environment(), key()), InvalidArgument);
  EXPECT_THROW(store_.add_miss(environment(), miss()), InvalidArgument);
}

TEST_F(StoreTest, NestedOrHugeProfilesAreMisses) {
  store_.put(environment(), profile(key()));
  const fs::path file = file_of(environment(), key());
  const std::string deep(300'000, '[');
  write(file, deep);
  EXPECT_FALSE(store_.get(environment(), key()));
  write(file.parent_path().parent_path() / "manifest.json", deep);
  EXPECT_TRUE(store_.all().empty());
  write(folder_ / "bundle", R"({"schema":1,"kolmo_tuning":)" + deep);
  EXPECT_THROW(store_.import_from(folder_ / "bundle"), InvalidArgument);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(store_.import_from(folder_ / "pipe"), InvalidArgument);
}

TEST_F(StoreTest, NamesThatAreNoFoldersAreRefused) {
  for (const char* name : {"", "..", "../x", "a/b", ".hidden", "a b"})
    EXPECT_THROW(store_.put(environment(), profile(key(name))), InvalidArgument) << name;
}

TEST_F(StoreTest, MissesAreListedOnce) {
  store_.add_miss(environment(), miss());
  store_.add_miss(environment(), miss());
  store_.add_miss(environment(), miss("digamma"));
  EXPECT_THAT(store_.misses(environment()), testing::UnorderedElementsAre(miss(), miss("digamma")));
  EXPECT_TRUE(store_.all().empty());
  store_.remove_miss(environment(), key());
  EXPECT_THAT(store_.misses(environment()), testing::ElementsAre(miss("digamma")));
}

TEST_F(StoreTest, ABundleCarriesEverything) {
  const std::string bundle = folder_ / "bundle.json";
  store_.put(environment(), profile(key()));
  store_.put(environment("NVIDIA H100"), profile(key("digamma")));
  EXPECT_EQ(store_.export_to(bundle), 2u);
  Store other(folder_ / "other");
  EXPECT_EQ(other.import_from(bundle), 2u);
  EXPECT_EQ(to_json(*other.get(environment(), key())), to_json(*store_.get(environment(), key())));
  EXPECT_EQ(other.import_from(bundle), 0u) << "what is there and as new stays";

  const std::string text = read(bundle);
  std::string damaged = text;
  damaged[damaged.rfind("median_ns") + 14] ^= 1;
  Store third(folder_ / "third");
  for (const std::string& bad :
       {damaged, text.substr(0, text.size() / 2), std::string("[]"), std::string("{\"schema\":2}")}) {
    write(bundle, bad);
    EXPECT_THROW(third.import_from(bundle), InvalidArgument);
    EXPECT_TRUE(third.all().empty()) << "all or nothing";
  }
  const std::regex processors("\"sms\": ?[0-9]+");
  write(bundle, std::regex_replace(text, processors, "\"sms\": 1e21"));
  EXPECT_THROW(third.import_from(bundle), InvalidArgument) << "no integer holds that";
  EXPECT_THROW(third.import_from("/nowhere"), InvalidArgument);
}

TEST_F(StoreTest, CollectionRemovesTheOldestAndWhatIsBroken) {
  std::uint64_t size = 0;
  for (int i = 0; i < 4; ++i) {
    Profile p = profile(key("vector_add", 1 << (i + 4)));
    p.created = 1000 + i;
    store_.put(environment(), p);
    size = fs::file_size(file_of(environment(), p.key));
  }
  write(root_ / "v1" / environment().id() / "vector_add" / "broken.json", "{");
  const auto collected = store_.collect(2 * size + size / 2);
  EXPECT_EQ(collected.files, 3u);
  EXPECT_TRUE(store_.get(environment(), key("vector_add", 1 << 7)));
  EXPECT_TRUE(store_.get(environment(), key("vector_add", 1 << 6)));
  EXPECT_FALSE(store_.get(environment(), key("vector_add", 1 << 5)));
}

}  // namespace
}  // namespace kolmo::tune
