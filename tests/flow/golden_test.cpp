#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/op/registry.hpp"
#include "tests/flow/shared_data.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

using testing_flow::shared_data;
using Columns = std::vector<std::size_t>;

/// A line of golden_ksg.tsv or open_golden.tsv.
struct Golden {
  std::string measure, algorithm, variables, normalisation;
  std::filesystem::path file;
  std::int64_t samples = 0;  // embedded rows; 0: not given
  std::int64_t k = 0, theiler = 0;
  double value = 0;
};

std::vector<Golden> read_golden(const std::filesystem::path& path) {
  std::vector<Golden> all;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    std::vector<std::string> c;
    for (std::string cell; std::getline(cells, cell, '\t');) c.push_back(cell);
    const auto after_equals = [](const std::string& cell) { return cell.substr(cell.find('=') + 1); };
    Golden g{
        .measure = c.at(0), .algorithm = c.at(1), .variables = c.at(3), .file = path.parent_path() / c.at(2)};
    if (c.size() == 9) g.samples = std::stoll(after_equals(c[4])), c.erase(c.begin() + 4);
    g.k = std::stoll(after_equals(c.at(4))), g.theiler = std::stoll(after_equals(c.at(5)));
    g.normalisation = c.at(6), g.value = std::stod(c.at(7));
    all.push_back(std::move(g));
  }
  return all;
}

/// Reads settings: "x=0,1 y=2" gives {x: "0,1", y: "2"}.
std::map<std::string, std::string> settings(const std::string& text) {
  std::map<std::string, std::string> s;
  std::istringstream in(text);
  for (std::string word; in >> word;) s[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return s;
}

Columns columns_of(const std::string& list) {
  Columns c;
  std::istringstream in(list);
  for (std::string cell; std::getline(in, cell, ',');) c.push_back(std::stoul(cell));
  return c;
}

struct Prepared {
  Series series;
  EstimationTask task;
};

Coordinates now(std::int32_t first, std::size_t count) {
  Coordinates c;
  for (std::size_t i = 0; i < count; ++i) c.push_back({first + std::int32_t(i), 0});
  return c;
}

Prepared prepare(const Golden& g) {
  Preparation p;
  p.noise = 0;
  p.standardize = g.normalisation == "norm=false" ? Standardize::none
                  : g.normalisation == "prenorm"  ? Standardize::series
                                                  : Standardize::columns;
  const Table table = read_table(g.file.string());
  auto s = settings(g.variables);
  const auto number = [&](const char* name) { return std::stoll(s.at(name)); };
  if (g.measure == "TE") {
    const Columns both{columns_of(s.at("src"))[0], columns_of(s.at("dst"))[0]};
    Series series = make_series(table, both, p);
    EstimationTask task = transfer_entropy_task(series, 0, 1, {}, {number("l_hist"), number("l_tau")},
                                                {number("k_hist"), number("k_tau")}, number("u"));
    return {std::move(series), std::move(task)};
  }
  if (g.measure == "AIS") {
    Series series = make_series(table, columns_of(s.at(s.contains("col") ? "col" : "x")), p);
    EstimationTask task = storage_task(series, 0, {number("k_hist"), number("tau")});
    return {std::move(series), std::move(task)};
  }
  const Columns x = columns_of(s.at("x")), y = columns_of(s.at("y")), z = columns_of(s["z"]);
  Columns all = x;
  all.insert(all.end(), y.begin(), y.end()), all.insert(all.end(), z.begin(), z.end());
  Series series = make_series(table, all, p);
  const auto nx = std::int32_t(x.size()), ny = std::int32_t(y.size());
  EstimationTask task{
      "mi", {now(0, x.size())}, now(nx, y.size()), now(nx + ny, z.size()), embeddable(series, 0), {0}};
  return {std::move(series), std::move(task)};
}

EstimatorOptions options_of(const Golden& g) {
  EstimatorOptions o;
  o.neighbors = g.k, o.theiler = g.theiler, o.theiler_count = TheilerCount::all;
  o.algorithm = g.algorithm == "KSG2" ? KsgAlgorithm::ksg2 : KsgAlgorithm::ksg1;
  return o;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t stride = 7;  // under sanitizers a few of every kind of estimate are enough
#else
constexpr std::size_t stride = 1;
#endif

class GoldenValues : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Device device = parse_device(GetParam());
    if (!available(device)) GTEST_SKIP() << "this build has no " << GetParam();
    if (!find_op("ksg_conditional_mutual_information").impl(device.kind))
      GTEST_SKIP() << "the estimator has no implementation for " << GetParam();
  }
  void expect_met(const std::vector<Golden>& all) {
    Stream stream(parse_device(GetParam()));
    for (std::size_t i = 0; i < all.size(); i += stride) {
      const Golden& g = all[i];
      const Prepared p = prepare(g);
      if (g.samples) {
        EXPECT_EQ(std::int64_t(p.task.times.size()), g.samples);
      }
      EXPECT_NEAR(estimate(p.series, p.task, options_of(g), stream).observed(0), g.value, 1e-10)
          << g.measure << ' ' << g.algorithm << ' ' << g.file << ' ' << g.variables << " k=" << g.k
          << " theiler=" << g.theiler << ' ' << g.normalisation;
    }
  }
};

TEST_P(GoldenValues, OfJidtOnTheOpenSeriesAreMet) {
  const auto all = read_golden(source_dir() / "tests/flow/data/open_golden.tsv");
  ASSERT_EQ(all.size(), 271u);
  expect_met(all);
}

TEST_P(GoldenValues, OfJidtOnItsDemonstrationDataAreMet) {
  KOLMO_NEED_SHARED_DATA("golden_ksg.tsv");
  const auto all = read_golden(shared_data() / "golden_ksg.tsv");
  ASSERT_GT(all.size(), 60u);
  expect_met(all);
}

INSTANTIATE_TEST_SUITE_P(Device, GoldenValues, testing::Values("cpu", "simt", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

/// Values published for other programs, compared to the published number of digits.
TEST(PublishedValues, MilcaMutualInformation) {
  KOLMO_NEED_SHARED_DATA("4ColsPairedNoisyDependence-1.txt");
  constexpr std::pair<int, double> values[] = {{1, 0.33738970},  {2, 0.36251531}, {3, 0.34708687},
                                               {4, 0.36200563},  {5, 0.35766125}, {6, 0.35007623},
                                               {10, 0.35023664}, {15, 0.33728287}};
  Stream stream;
  for (const auto& [k, value] : values) {
    const Golden g{.measure = "MI",
                   .algorithm = "KSG2",
                   .variables = "x=0,1 y=2,3",
                   .normalisation = "norm=true",
                   .file = shared_data() / "4ColsPairedNoisyDependence-1.txt",
                   .k = k};
    const Prepared p = prepare(g);
    EXPECT_NEAR(estimate(p.series, p.task, options_of(g), stream).observed(0), value, 1e-7) << "k = " << k;
  }
}

TEST(PublishedValues, TrentoolTransferEntropy) {
  KOLMO_NEED_SHARED_DATA("2coupledRandomCols-1.txt");
  struct {
    const char *file, *pair;
    int theiler;
    double value;
  } constexpr values[] = {{"2coupledRandomCols-1.txt", "src=0 dst=1", 0, 0.3058006},
                          {"2coupledRandomCols-1.txt", "src=1 dst=0", 0, -0.0029744},
                          {"2coupledRandomCols-1.txt", "src=0 dst=1", 10, 0.2930714},
                          {"2coupledRandomCols-1.txt", "src=1 dst=0", 10, -0.0387031},
                          {"2coupledRandomCols-1.txt", "src=0 dst=1", 20, 0.2995997},
                          {"2coupledRandomCols-1.txt", "src=1 dst=0", 20, -0.0381608},
                          {"coupledLogisticMapXY.txt", "src=0 dst=1", 0, 0.508417},
                          {"coupledLogisticMapXY.txt", "src=1 dst=0", 0, 0.016257}};
  Stream stream;
  for (const auto& v : values) {
    const Golden g{.measure = "TE",
                   .algorithm = "KSG1",
                   .variables = std::string(v.pair) + " k_hist=1 k_tau=1 l_hist=1 l_tau=1 u=1",
                   .normalisation = "prenorm",
                   .file = shared_data() / v.file,
                   .k = 4,
                   .theiler = v.theiler};
    const Prepared p = prepare(g);
    EXPECT_NEAR(estimate(p.series, p.task, options_of(g), stream).observed(0), v.value, 1e-6) << v.pair;
  }
}

TEST(PublishedValues, ALineAgainstItself) {
  Table t{"line", {"x", "y"}, std::vector(2, std::vector<double>(100)), {{}, {}}, true};
  for (int i = 0; i < 100; ++i)
    for (auto& c : t.columns) c[std::size_t(i)] = i * (1 / 99.0);
  Preparation p;
  p.noise = 0, p.standardize = Standardize::none;
  const Series series = make_series(t, Columns{0, 1}, p);
  EstimatorOptions o;
  o.neighbors = 3;
  Stream stream;
  // Every point has two neighbours nearer than its third, also at the ends:
  // I = psi(100) - psi(3) = H(99) - H(2), with H(n) the n-th harmonic number.
  // (Programs that use the Euclidean norm in the joint space find four and report 2.5207.)
  double value = -1.5;
  for (int i = 1; i < 100; ++i) value += 1.0 / i;
  const EstimationTask task{"mi", {now(0, 1)}, now(1, 1), {}, embeddable(series, 0), {0}};
  EXPECT_NEAR(estimate(series, task, o, stream).observed(0), value, 1e-12);
}

}  // namespace
}  // namespace kolmo
