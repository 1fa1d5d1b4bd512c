#include "kolmo/io/record_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kolmo/io/file.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

TEST(RecordText, OneLineForEachResult) {
  const Json record = {
      {"kind", "bench"},
      {"empty", Json::array()},
      {"device", {{"name", "cpu"}, {"processors", 2}}},
      {"ops", {{{"name", "a{"}, {"results", {{{"case", "x"}, {"sizes", {{"n", 3}}}}, {{"case", "y"}}}}}}}};
  EXPECT_EQ(record_text(record), R"({
 "kind": "bench",
 "empty": [],
 "device": {"name":"cpu","processors":2},
 "ops": [
  {
   "name": "a{",
   "results": [
    {"case":"x","sizes":{"n":3}},
    {"case":"y"}
   ]
  }
 ]
}
)");
  EXPECT_EQ(Json::parse(record_text(record)), record);
}

// tools/record_text.py writes mutants.json, this function the others.
TEST(RecordText, RecordsOfTheTreeAreWrittenSo) {
  for (const char* file : {"h100/validate.json", "h200/validate.json", "h200/bench.json", "mutants.json"}) {
    const std::string text = read_regular((source_dir() / "results" / file).string(), 64 << 20);
    const auto lines = [](const std::string& t) { return std::count(t.begin(), t.end(), '\n'); };
    EXPECT_EQ(lines(record_text(Json::parse(text))), lines(text)) << file;
  }
}

}  // namespace
}  // namespace kolmo
