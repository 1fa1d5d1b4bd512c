#include "kolmo/check/conformance.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <map>

namespace kolmo::check {
namespace {

class Conformance : public testing::Test {
 public:
  explicit Conformance(std::function<Results()> check) : check_(std::move(check)) {}
  void TestBody() override {
    const Results results = check_();
    EXPECT_FALSE(results.empty()) << "nothing was checked";
    for (const Result& r : results)
      EXPECT_TRUE(r.ok) << r.op << ", " << r.case_name << ", " << r.device << (r.variant.empty() ? "" : ", ")
                        << r.variant << ", " << r.aspect << ": " << r.message;
  }

 private:
  std::function<Results()> check_;
};

std::string test_name(std::string_view device, std::string_view name) {
  std::string text = std::string(device) + "_" + std::string(name);
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

void add(const OpEntry& entry, std::string_view device, std::string_view name,
         std::function<Results()> check) {
  testing::RegisterTest(("Conformance_" + std::string(entry.op->name)).c_str(),
                        test_name(device, name).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [check]() -> testing::Test* { return new Conformance(check); });
}

// There is one test for each operator, case and device of this machine, one more for the facts, and one for
// the reach of the variants.
const bool registered = [] {
  for (const OpEntry& entry : all_ops()) {
    for (const DeviceInfo& d : devices()) {
      const Device device = d.device;
      if (device.index > 0) continue;
      const auto cases = entry.op->cases();
      for (std::size_t i = 0; i < cases.size(); ++i)
        if (!cases[i].benchmark_only)
          add(entry, to_string(device), std::to_string(i) + " " + std::string(cases[i].name),
              [&entry, i, device] { return check_case(entry, oracle_of(*entry.op), i, device); });
      if (!entry.variants(device.kind).empty())
        add(entry, to_string(device), "reach", [&entry, device] { return check_reach(entry, device); });
      if (!oracle_of(*entry.op).facts.empty())
        add(entry, to_string(device), "facts",
            [&entry, device] { return check_facts(entry, oracle_of(*entry.op), device); });
    }
  }
  return true;
}();

// Each operator must have cases, and a case for each property that it claims: tests/check/self_check_test.cpp
// checks that.
TEST(Conformance, EveryOperatorHasAnOracleAndATestForEachCase) {
  ASSERT_TRUE(registered);
  std::map<std::string, int> tests;
  const auto& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i)
    tests[all.GetTestSuite(i)->name()] = all.GetTestSuite(i)->total_test_count();
  for (const OpEntry& entry : all_ops()) {
    if (entry.group == "mine")
      continue;  // RegisterOp.AddsToTheCatalogueOnce may run before, in the same program
    EXPECT_NO_THROW(oracle_of(*entry.op)) << entry.op->name;
    int cases = 0;
    for (const CaseInfo& c : entry.op->cases()) cases += !c.benchmark_only;
    EXPECT_GT(cases, 0) << entry.op->name;
    EXPECT_GE(tests["Conformance_" + std::string(entry.op->name)], cases) << entry.op->name;
  }
}

}  // namespace
}  // namespace kolmo::check
