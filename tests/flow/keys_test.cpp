// Random numbers belong to variables, not to places: another order of the columns, and further ones, change nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "kolmo/flow/data/variable_key.hpp"
#include "kolmo/flow/infer/choose_embedding.hpp"
#include "kolmo/flow/infer/network_record.hpp"
#include "kolmo/flow/simulate/simulate.hpp"
#include "tests/flow/test_series.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;
using Columns = std::vector<std::size_t>;

Columns first(std::size_t n) {
  Columns all(n);
  std::iota(all.begin(), all.end(), std::size_t(0));
  return all;
}

Table in_order(const Table& table, const Columns& order) {
  Table t = table;
  for (std::size_t i = 0; i < order.size(); ++i) {
    t.names[i] = table.names[order[i]], t.columns[i] = table.columns[order[i]];
    t.faults[i] = table.faults[order[i]];
  }
  return t;
}

std::vector<std::uint64_t> keys(const Table& t) { return variable_keys(t, first(t.columns.size())); }

TEST(VariableKeys, AreOfNames) {
  const Table t = table_of({{1, 2}, {3, 4}, {5, 6}});
  const auto all = keys(t);
  EXPECT_NE(all[0], all[1]);
  const auto moved = keys(in_order(t, {2, 0, 1}));
  EXPECT_EQ(moved, (std::vector{all[2], all[0], all[1]}));
  Table other = t;
  other.columns[0][0] = 9, other.names.push_back("date"), other.columns.emplace_back();
  EXPECT_EQ(variable_keys(other, first(3)), all) << "other values, and a further column";
  other.names[0] = "y";
  EXPECT_NE(keys(other)[0], all[0]);
}

TEST(VariableKeys, AreOfValuesWhereThereAreNoNames) {
  Table t = table_of({{1, 2}, {3, 4}, {1, 2}, {2, 1}});
  const auto named = keys(t);
  t.named = false;
  const auto all = keys(t);
  EXPECT_EQ(all[0], all[2]);
  EXPECT_NE(all[0], all[1]);
  EXPECT_NE(all[0], all[3]) << "in another order";
  EXPECT_NE(all[0], named[0]);
  t.named = true, t.made_up = {true, false, false, true};
  EXPECT_EQ(keys(t), (std::vector{all[0], named[1], named[2], all[3]}));
  t.columns[0][1] = std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t missing = keys(t)[0];
  t.columns[0][1] = -t.columns[0][1];
  EXPECT_EQ(keys(t)[0], missing) << "one missing value is like another";
}

TEST(VariableKeys, EqualNamesAreToldApartByValues) {
  Table t = table_of({{1, 2}, {3, 4}, {5, 6}});
  t.names = {"a", "b", "a"};
  const auto all = keys(t);
  EXPECT_NE(all[0], all[2]);
  EXPECT_EQ(keys(in_order(t, {2, 1, 0})), (std::vector{all[2], all[1], all[0]}));
  EXPECT_EQ(variable_keys(t, Columns{2, 0}), (std::vector{all[2], all[0]})) << "of the table, chosen or not";
}

TEST(RandomStream, HasADirection) {
  EXPECT_NE(random_stream(1, 2), random_stream(2, 1));
  EXPECT_NE(random_stream(1, 1), random_stream(2, 2));
  for (std::uint64_t a = 0; a < 100; ++a) EXPECT_GE(random_stream(~a, a), 0);
}

/// All results of a network, by the names of its variables.
std::map<std::string, std::string> network_of(const Table& table, const Columns& columns,
                                              const Preparation& p, NetworkOptions o) {
  const Series series = make_series(table, columns, p);
  for (std::size_t v = 0; v < columns.size(); ++v) o.variables.push_back(std::int32_t(v));
  Stream stream;
  const Network found = infer_network(series, o, stream, nullptr, nullptr);
  std::map<std::string, std::string> all;
  const auto name = [&](std::int32_t v) { return series.names[std::size_t(v)]; };
  for (const TargetResult& t : found.targets) all[name(t.target)] = to_record(t);
  for (const LinkResult& l : found.links)
    all[name(l.source) + " -> " + name(l.target)] =
        to_record({&l, 1}) + (l.significant ? " significant " : " ") + std::to_string(l.p_adjusted);
  return all;
}

// The four columns that README analyses.
TEST(ColumnOrder, AllOrdersOfFourColumnsGiveTheSame) {
  const Table table = read_table((source_dir() / "examples/data/macrodata.csv").string());
  Preparation p;
  p.transform = Transform::log_difference;
  NetworkOptions o;
  o.max_lag = 4, o.estimator.surrogates = 199;
  Columns columns = select_columns(table, "realgdp,realcons,realinv,unemp");
  std::sort(columns.begin(), columns.end());
  const auto want = network_of(table, columns, p, o);
  int orders = 0;
  do {
    EXPECT_EQ(network_of(table, columns, p, o), want);
    ++orders;
  } while (std::next_permutation(columns.begin(), columns.end()));
  EXPECT_EQ(orders, 24);
}

TEST(ColumnOrder, ReversedNetworksAreTheSame) {
  for (const char* kind : {"var", "coupled-logistic", "henon"})
    for (const bool named : {true, false}) {
      const Simulation simulation = simulate(kind, 5, 200, 3);
      Table table = table_of(simulation.values);
      NetworkOptions o;
      o.max_lag = 2, o.max_history = 3, o.estimator.surrogates = 49;
      table.named = named;
      EXPECT_EQ(network_of(in_order(table, {4, 3, 2, 1, 0}), first(5), {}, o),
                network_of(table, first(5), {}, o))
          << kind << (named ? ", named" : "");
    }
}

TEST(ColumnOrder, OtherEstimatorsDoNotDependOnIt) {
  const Simulation simulation = simulate("var", 4, 300, 2);
  Table table = table_of(simulation.values);
  for (auto& column : table.columns)
    for (double& v : column) v = std::round(v);
  for (const Estimator estimator : {Estimator::gaussian, Estimator::discrete}) {
    NetworkOptions o;
    o.max_lag = 2, o.max_history = 3;
    o.estimator.estimator = estimator, o.estimator.surrogates = 49;
    EXPECT_EQ(network_of(in_order(table, {3, 2, 1, 0}), first(4), {}, o), network_of(table, first(4), {}, o));
  }
  NetworkOptions spectral;
  spectral.estimator.surrogates = 9, spectral.estimator.surrogate_type = SurrogateMethod::iaaft;
  EXPECT_EQ(network_of(in_order(table, {3, 2, 1, 0}), first(4), {}, spectral),
            network_of(table, first(4), {}, spectral));
}

// The choice of embeddings draws no random numbers. Another seed changes only the noise, and so the storage
// by about 1e-8.
TEST(Embeddings, DoNotDependOnTheSeed) {
  const Table table = read_table((source_dir() / "examples/data/macrodata.csv").string());
  Preparation p;
  p.transform = Transform::log_difference;
  const Columns columns = select_columns(table, "realgdp,realcons,realinv,realdpi,cpi,m1,tbilrate,unemp");
  std::map<std::int32_t, std::int64_t> want;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    p.seed = seed;
    const Series series = make_series(table, columns, p);
    NetworkOptions o;
    o.estimator.seed = seed;
    for (std::int32_t v = 0; v < 8; ++v) o.variables.push_back(v);
    Stream stream;
    for (const TargetResult& t : choose_embeddings(series, o, o.variables, stream)) {
      const auto [chosen, fresh] = want.emplace(t.target, t.embedding.history);
      EXPECT_EQ(chosen->second, t.embedding.history)
          << series.names[std::size_t(t.target)] << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace kolmo
