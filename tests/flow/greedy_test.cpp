#include <gtest/gtest.h>

#include "kolmo/flow/infer/greedy_search.hpp"
#include "tests/flow/greedy_series.hpp"

// What a search does with estimates, which are made up here.
namespace kolmo {
namespace {

using namespace testing_flow;

/// A search whose estimates a test writes: for each alternative of each task the observed value, and one number that all its
/// surrogates have.
class Scripted {
 public:
  explicit Scripted(const NetworkOptions& options, std::int32_t target = 0)
      : series_(driven(3, 60)), network_(prepare_network(series_, options)), search_(network_, target) {}

  using Value = std::pair<double, double>;  // observed, surrogates
  /// Answers rounds until the test under way has ended: `f` says the value of x given z.
  template <class F>
  void run(F f) {
    while (const auto round = search_.next()) {
      std::vector<Estimates> all;
      std::string now;
      for (const EstimationTask& t : round->tasks) {
        Estimates e{
            round->surrogates, std::vector<std::int64_t>(t.x.size(), round->surrogates.surrogates()), {}, {}};
        for (const Coordinates& x : t.x) {
          const Value v = f(x, t.z);
          const auto at = e.values.size();
          e.values.resize(at + std::size_t(round->surrogates.count), v.second);
          if (round->surrogates.observed()) e.values[at] = v.first;
          now += text(x) + (&x == &t.x.back() ? "" : " ");
        }
        now += "|" + text(t.z) + (&t == &round->tasks.back() ? "" : " ");
        all.push_back(e);
      }
      if (asked_.empty() || asked_.back() != now) asked_.push_back(now);
      search_.take(all);
    }
  }
  static std::string text(const Coordinates& values) {
    std::string all;
    for (const Coordinate& c : values) all += char('a' + c.variable) + std::to_string(c.lag);
    return all;
  }
  const std::vector<std::string>& asked() const { return asked_; }
  const GreedySearch& search() const { return search_; }
  std::string chosen() const {
    Coordinates own, sources;
    for (const Chosen& c : search_.selection().own_past) own.push_back(c.value);
    for (const Chosen& c : search_.selection().sources.at(0).chosen) sources.push_back(c.value);
    return text(own) + "|" + text(sources);
  }

 private:
  Series series_;
  PreparedNetwork network_;
  GreedySearch search_;
  std::vector<std::string> asked_;
};

bool is(const Coordinates& x, char variable, std::int64_t lag) {
  return x.size() == 1 && x[0].variable == variable - 'a' && x[0].lag == lag;
}

TEST(GreedySearch, WhereNothingIsSignificantTheLatestValueJoinsAndNoSourceDoes) {
  Scripted s(greedy_options(3, 2));
  s.run([](const Coordinates&, const Coordinates&) { return Scripted::Value{0.1, 0.2}; });
  EXPECT_EQ(s.chosen(), "a1|");
  EXPECT_EQ(s.asked()[0], "a1 a2|") << "the own past";
  EXPECT_EQ(s.asked().size(), 3u) << "own past, sources, storage";
  EXPECT_EQ(s.asked()[2], "a1|");
  EXPECT_TRUE(std::isnan(s.search().selection().own_past[0].p_value)) << "it was not significant";
  ASSERT_EQ(s.search().links().size(), 2u);
  for (const LinkResult& link : s.search().links()) {
    EXPECT_TRUE(link.lags.empty());
    EXPECT_EQ(link.value, 0.1);
    EXPECT_EQ(link.p_value, 1);
    EXPECT_EQ(link.surrogate_count, 10) << "at the tenth of 199 that reaches the value the test has ended";
  }
}

TEST(GreedySearch, ValuesJoinByTheInformationThatIsLeft) {
  Scripted s(greedy_options(3, 2));
  s.run([](const Coordinates& x, const Coordinates& z) -> Scripted::Value {
    if (is(x, 'a', 2)) return {0.9, 0.1};
    if (is(x, 'c', 2)) return {0.8, 0.1};
    if (is(x, 'b', 1)) return {z.size() > 1 ? 0.5 : 0.7, 0.1};
    return {x.size() > 1 ? 1.0 : 0.05, 0.1};
  });
  EXPECT_EQ(s.chosen(), "a2|c2b1");
  const TargetSelection& found = s.search().selection();
  EXPECT_EQ(found.own_past[0].information, 0.9);
  EXPECT_EQ(found.own_past[0].p_value, 1.0 / 200);
  const SourceSelection& sources = found.sources[0];
  EXPECT_EQ(sources.chosen[1].information, 0.5) << "given c2";
  EXPECT_EQ(sources.first_p, 1.0 / 200);
  EXPECT_EQ(sources.chosen[0].p_given_all, 1.0 / 200);
  for (const LinkResult& link : s.search().links()) EXPECT_EQ(link.lags.size(), 1u);
}

TEST(GreedySearch, PruningRemovesWhatTellsNothingGivenTheOthers) {
  Scripted s(greedy_options(3, 1));
  s.run([](const Coordinates& x, const Coordinates& z) -> Scripted::Value {
    const bool given_c = Scripted::text(z).find("c1") != std::string::npos;
    if (is(x, 'b', 1)) return {given_c ? 0.01 : 0.9, 0.1};
    if (is(x, 'c', 1)) return {0.8, 0.1};
    return {x.size() > 1 ? 1.0 : 0.05, 0.1};
  });
  EXPECT_EQ(s.chosen(), "a1|c1");
  const SourceSelection& sources = s.search().selection().sources[0];
  ASSERT_EQ(sources.removed.size(), 1u);
  EXPECT_EQ(sources.removed[0].by, SelectionTest::min_stat);
  EXPECT_EQ(sources.removed[0].p_value, 1);
  EXPECT_EQ(sources.removed[0].value.variable, 1);
  for (const LinkResult& link : s.search().links()) EXPECT_EQ(link.lags.empty(), link.source == 1);
}

TEST(GreedySearch, TheOmnibusTestRemovesAllSources) {
  Scripted s(greedy_options(3, 1));
  s.run([](const Coordinates& x, const Coordinates&) -> Scripted::Value {
    return {0.5, x.size() > 1 ? 0.6 : 0.1};
  });
  EXPECT_EQ(s.chosen(), "a1|");
  const SourceSelection& sources = s.search().selection().sources[0];
  EXPECT_EQ(sources.joint, 0.5);
  EXPECT_EQ(sources.joint_p, 1);
  ASSERT_EQ(sources.removed.size(), 2u);
  for (const Removed& r : sources.removed) EXPECT_EQ(r.by, SelectionTest::omnibus);
  for (const LinkResult& link : s.search().links()) EXPECT_EQ(link.p_value, 1);
}

// Both lags of b are one link: the value is that of both together, given c.
TEST(GreedySearch, ALinkHasAllItsLags) {
  Scripted s(greedy_options(3, 2));
  s.run([](const Coordinates& x, const Coordinates&) -> Scripted::Value {
    if (x.size() == 2 && x[0].variable == 1) return {1.25, 0.1};
    if (x.size() > 1) return {2, 0.1};
    if (x[0].variable == 1) return {x[0].lag == 2 ? 0.7 : 0.6, 0.1};
    return {is(x, 'c', 1) ? 0.5 : 0.05, 0.1};
  });
  EXPECT_EQ(s.chosen(), "a1|b2b1c1");
  EXPECT_EQ(s.search().selection().sources[0].joint, 2);
  for (const LinkResult& link : s.search().links()) {
    if (link.source != 1) continue;
    EXPECT_EQ(link.lags, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(link.lag, 2) << "the stronger";
    EXPECT_EQ(link.value, 1.25);
    EXPECT_EQ(link.profile, (std::vector<double>{0.6, 0.7}));
  }
}

TEST(GreedySearch, EndsAtTheMostConditionsAndKeepsWhatWasChosen) {
  NetworkOptions o = greedy_options(3, 4);
  o.greedy.max_conditions = 5;
  Scripted s(o);
  s.run([](const Coordinates& x, const Coordinates&) -> Scripted::Value {
    return {1.0 + double(x.size()), 0.1};
  });
  EXPECT_EQ(s.chosen(), "a1a2a3a4|c1") << "of equal values that of the smallest key is taken";
  EXPECT_FALSE(s.search().selection().full) << "no value of the own past was left";
  EXPECT_TRUE(s.search().selection().sources[0].full);
}

TEST(GreedySearch, ABivariateSearchConditionsOnNoOtherSource) {
  NetworkOptions o = greedy_options(3, 1);
  o.method = NetworkMethod::bivariate;
  Scripted s(o);
  s.run([](const Coordinates&, const Coordinates&) { return Scripted::Value{1, 0.1}; });
  ASSERT_EQ(s.search().selection().sources.size(), 2u);
  for (const std::string& asked : s.asked())
    EXPECT_TRUE(asked.find("|b1") == std::string::npos && asked.find("a1c1") == std::string::npos) << asked;
  for (const LinkResult& link : s.search().links()) EXPECT_EQ(link.lags.size(), 1u);
}

TEST(GreedySearch, MutualInformationHasNoOwnPastAndStorageNoSources) {
  NetworkOptions o = greedy_options(3, 1);
  o.greedy.measure = GreedyMeasure::mi, o.min_lag = 0;
  Scripted mi(o);
  mi.run([](const Coordinates& x, const Coordinates&) {
    return Scripted::Value{is(x, 'b', 0) ? 1.0 : 0.0, 0.1};
  });
  EXPECT_EQ(mi.chosen(), "|b0");
  o = greedy_options(3, 3);
  o.greedy.measure = GreedyMeasure::ais;
  Scripted ais(o);
  ais.run([](const Coordinates& x, const Coordinates&) {
    return Scripted::Value{x.size() > 1 || x[0].lag > 1 ? 1.0 : 0.0, 0.1};
  });
  EXPECT_EQ(ais.chosen(), "a2a3|");
  EXPECT_EQ(ais.search().selection().storage, 1);
  EXPECT_TRUE(ais.search().links().empty());
}

TEST(GreedySearch, AConstantTargetHasNoSourcesAndAConstantSourceIsNotOffered) {
  const Series series = series_of({normals(1, 0, 60), std::vector<double>(60, 2.0), normals(1, 2, 60)});
  const PreparedNetwork network = prepare_network(series, greedy_options(3, 1));
  GreedySearch constant(network, 1), other(network, 0);
  EXPECT_FALSE(constant.next());
  EXPECT_EQ(constant.selection().sources.size(), 1u);
  const auto own = other.next();
  ASSERT_TRUE(own);
  Estimates e{own->surrogates,
              {own->surrogates.surrogates()},
              std::vector<double>(std::size_t(own->surrogates.count), 1.0),
              {}};
  other.take({&e, 1});
  const auto sources = other.next();
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->tasks[0].x.size(), 1u);
  EXPECT_EQ(sources->tasks[0].x[0][0].variable, 2);
}

}  // namespace
}  // namespace kolmo
