#include "kolmo/flow/simulate/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/data/portable_math.hpp"
#include "kolmo/io/table.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

using testing_io::content_of;
using testing_io::message_of;
using testing_io::TemporaryFolder;

const char* const kinds[] = {"coupled-logistic", "var", "henon", "kuramoto", "lorenz"};

TEST(PortableMath, AgreesWithTheLibrary) {
  for (int i = -5000; i <= 5000; ++i) {
    const double turns = i * 1.2345e-3, x = std::exp(i * 0.1);
    EXPECT_NEAR(portable::sin_turns(turns), double(std::sin(6.283185307179586477L * (long double)turns)),
                1e-15);
    EXPECT_NEAR(portable::log(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x))));
  }
}

TEST(PortableMath, NormalHasItsMoments) {
  const portable::Random random(1);
  const int n = 200000;
  double sum[5] = {};
  for (int i = 0; i < n; ++i) {
    const double z = random.normal(0, std::uint64_t(i), 0);
    for (int k = 1; k <= 4; ++k) sum[k] += std::pow(z, k) / n;
  }
  const double error =
      5 / std::sqrt(double(n));  // five standard errors of moments with variances 1, 2, 15, 96
  EXPECT_NEAR(sum[1], 0, error);
  EXPECT_NEAR(sum[2], 1, error * std::sqrt(2));
  EXPECT_NEAR(sum[3], 0, error * std::sqrt(15));
  EXPECT_NEAR(sum[4], 3, error * std::sqrt(96));
}

TEST(Simulate, SameSeedSameBits) {
  for (const char* kind : kinds) {
    const Simulation a = simulate(kind, 4, 300, 7), b = simulate(kind, 4, 300, 7),
                     c = simulate(kind, 4, 300, 8);
    EXPECT_EQ(a.values, b.values) << kind;
    EXPECT_EQ(a.links, b.links) << kind;
    EXPECT_NE(a.values, c.values) << kind;
    EXPECT_EQ(simulate(kind, 4, 200, 7).values[3],
              std::vector<double>(a.values[3].begin(), a.values[3].begin() + 200))
        << kind << ": a longer run starts with the shorter one";
  }
}

TEST(Simulate, DrawsSparseLinks) {
  for (const char* kind : kinds) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const System system = draw_system(system_kind(kind), 6, seed);
      std::set<std::pair<int, int>> pairs;
      std::vector<int> sources(6);
      for (const TrueLink& link : system.links) {
        EXPECT_NE(link.source, link.target);
        EXPECT_TRUE(pairs.insert({link.source, link.target}).second);
        EXPECT_TRUE(link.source >= 0 && link.source < 6);
        EXPECT_TRUE(link.lag >= 1 && link.lag <= 3);
        EXPECT_LE(++sources[std::size_t(link.target)], 2);
      }
      EXPECT_FALSE(system.links.empty());
    }
  }
  EXPECT_TRUE(draw_system(SystemKind::var, 1, 0).links.empty());
  EXPECT_EQ(draw_system(SystemKind::var, 2, 0).links.empty(), false);
}

TEST(Simulate, EverySourceIsDrawnEquallyOften) {
  std::vector<int> count(5);
  int links = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    for (const TrueLink& link : draw_system(SystemKind::var, 5, seed).links) {
      if (link.target == 2) ++count[std::size_t(link.source)], ++links;
    }
  }
  EXPECT_EQ(count[2], 0);
  for (const int i : {0, 1, 3, 4})
    EXPECT_NEAR(count[std::size_t(i)], links / 4.0, 5 * std::sqrt(links / 4.0)) << i;
}

TEST(Simulate, StaysWithinBoundsAndStationary) {
  for (const char* kind : kinds) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Simulation s = simulate(kind, 5, 4000, seed);
      for (const auto& x : s.values) {
        const auto moments = [&](std::size_t from) {
          double sum = 0, squares = 0;
          for (std::size_t t = from; t < from + 2000; ++t) sum += x[t], squares += x[t] * x[t];
          return std::pair(sum / 2000, squares / 2000 - sum / 2000 * sum / 2000);
        };
        const auto [mean, variance] = moments(0);
        const auto [later_mean, later_variance] = moments(2000);
        EXPECT_TRUE(std::all_of(x.begin(), x.end(), [](double v) { return std::abs(v) < 100; })) << kind;
        EXPECT_GT(variance, 0.01) << kind;
        // Series with memory have wide bounds, which drift or growth would exceed.
        EXPECT_LT(std::abs(mean - later_mean), 0.5 * std::sqrt(variance)) << kind << " " << seed;
        EXPECT_LT(std::abs(std::log(variance / later_variance)), 0.5) << kind << " " << seed;
      }
    }
  }
}

/// All variables that a change of `variable` can affect, itself included.
std::set<int> downstream(const System& system, int variable) {
  std::set<int> reached = {variable};
  for (std::size_t size = 0; size != reached.size();) {
    size = reached.size();
    for (const TrueLink& link : system.links) {
      if (reached.count(link.source)) reached.insert(link.target);
    }
  }
  return reached;
}

TEST(Simulate, WithoutALinkOnlyItsDescendantsChange) {
  int kept = 0;
  for (const char* kind : kinds) {
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      const System system = draw_system(system_kind(kind), 6, seed);
      const Simulation whole = simulate(system, 100);
      for (std::size_t k = 0; k < system.links.size(); ++k) {
        System cut = system;
        cut.links[k].strength = 0;
        const Simulation without = simulate(cut, 100);
        const std::set<int> changed = downstream(system, system.links[k].target);
        for (int i = 0; i < 6; ++i) {
          const bool same = whole.values[std::size_t(i)] == without.values[std::size_t(i)];
          EXPECT_EQ(same, changed.count(i) == 0)
              << kind << " seed " << seed << " link " << k << " variable " << i;
          kept += same;
        }
      }
    }
  }
  EXPECT_GT(kept, 0);
}

TEST(Simulate, MapsObeyTheirEquations) {
  for (const char* kind : {"coupled-logistic", "henon"}) {
    const Simulation s = simulate(kind, 4, 500, 3);
    const bool logistic = std::string(kind) == "coupled-logistic";
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t t = 3; t < 500; ++t) {
        const auto f = [&](double x) { return logistic ? 4 * x * (1 - x) : x; };
        double rest = 1, sum = 0;
        for (const TrueLink& link : s.links) {
          if (std::size_t(link.target) != i) continue;
          rest -= link.strength;
          sum += link.strength * f(s.values[std::size_t(link.source)][t - std::size_t(link.lag)]);
        }
        sum += rest * f(s.values[i][t - 1]);
        const double want =
            logistic ? sum : s.parameters["self"][i].get<double>() - sum * sum + 0.3 * s.values[i][t - 2];
        EXPECT_NEAR(s.values[i][t], want, (logistic ? 0.1 : 0) + 1e-12) << kind << " " << i << " " << t;
      }
    }
  }
}

TEST(Simulate, VarResidualsAreWhite) {
  const Simulation s = simulate("var", 3, 20000, 11);
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0, squares = 0, lagged = 0, last = 0;
    for (std::size_t t = 3; t < 20000; ++t) {
      double residual = s.values[i][t] - s.parameters["self"][i].get<double>() * s.values[i][t - 1];
      for (const TrueLink& link : s.links) {
        if (std::size_t(link.target) != i) continue;
        residual -= link.strength * s.values[std::size_t(link.source)][t - std::size_t(link.lag)];
      }
      sum += residual, squares += residual * residual, lagged += residual * last;
      last = residual;
    }
    const double bound = 5 / std::sqrt(20000.0);  // five standard errors
    EXPECT_NEAR(sum / 19997, 0, bound);
    EXPECT_NEAR(squares / 19997, 1, bound * std::sqrt(2));
    EXPECT_NEAR(lagged / 19997, 0, bound);
  }
}

TEST(Simulate, RefusesWithOneClearLine) {
  EXPECT_EQ(message_of<InvalidArgument>([] { simulate("rossler", 2, 10, 0); }),
            "simulate: no system \"rossler\"; there are coupled-logistic, var, henon, kuramoto, lorenz");
  EXPECT_EQ(message_of<InvalidArgument>([] { simulate("var", 0, 10, 0); }),
            "simulate: variables 0: want 1 to 10000");
  EXPECT_EQ(message_of<InvalidArgument>([] { simulate("var", 2, 0, 0); }),
            "simulate: samples 0: want at least 1 and at most 2^30 numbers in all");
  EXPECT_EQ(message_of<InvalidArgument>([] { simulate("var", 2, std::int64_t(1) << 62, 0); }),
            "simulate: samples 4611686018427387904: want at least 1 and at most 2^30 numbers in all");
  System escaping = draw_system(SystemKind::henon, 2, 0);
  for (TrueLink& link : escaping.links) link.strength = 9;
  EXPECT_NE(message_of<InvalidArgument>([&] { simulate(escaping, 10); }).find("grows without bound"),
            std::string::npos);
}

TEST(WriteSimulation, WritesSeriesAndTruth) {
  const TemporaryFolder folder;
  const Simulation s = simulate("var", 3, 50, 5);
  write_simulation(s, folder / "s.csv", folder / "s.json");
  const Table table = read_table(folder / "s.csv");
  EXPECT_EQ(table.names, (std::vector<std::string>{"x0", "x1", "x2"}));
  EXPECT_EQ(table.columns, s.values);
  const auto truth = nlohmann::json::parse(content_of(folder / "s.json"));
  ASSERT_EQ(truth["links"].size(), s.links.size());
  for (std::size_t k = 0; k < s.links.size(); ++k) {
    const auto& link = truth["links"][k];
    EXPECT_EQ((TrueLink{link["source"], link["target"], link["lag"], link["strength"]}), s.links[k]);
  }
  EXPECT_EQ(truth["parameters"]["system"], "var");
  EXPECT_EQ(truth["parameters"]["seed"], 5);
  EXPECT_THROW(write_simulation(s, folder / "none/s.csv", folder / "t.json"), InvalidArgument);
  EXPECT_EQ(folder.entries(), 2u) << "neither file without the other";
}

TEST(ExampleData, IsWhatItsCommandMakes) {
  const TemporaryFolder folder;
  const std::filesystem::path data = source_dir() / "examples/data/";
  write_simulation(simulate("coupled-logistic", 6, 1000, 1), folder / "s.csv", folder / "s.json");
  EXPECT_EQ(content_of(folder / "s.csv"), content_of(data / "coupled_logistic.csv"));
  EXPECT_EQ(content_of(folder / "s.json"), content_of(data / "coupled_logistic.truth.json"));
}

TEST(ExampleData, MacroeconomicSeriesAreWhole) {
  const Table table = read_table(source_dir() / "examples/data/macrodata.csv");
  EXPECT_EQ(table.rows(), 203u);
  EXPECT_EQ(select_columns(table, "").size(), 14u);
  EXPECT_EQ(table.names[2], "realgdp");
  EXPECT_EQ(table.columns[2].front(), 2710.349);
  EXPECT_EQ(table.columns[13].back(), -3.44);
}

}  // namespace
}  // namespace kolmo
