#include "kolmo/flow/result/methods.hpp"

#include <gtest/gtest.h>

#include "tests/flow/network_mock.hpp"

namespace kolmo {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> keys(const NetworkDocument& network) {
  std::vector<std::string> out;
  for (const Reference& r : references(network)) out.emplace_back(r.key);
  return out;
}

TEST(Methods, TextHasTheNumbersOfTheRun) {
  auto network = mock::network(5, 1);
  network.request.embedding = EmbeddingRule::ais;
  network.request.preparation.transform = Transform::log_difference;
  network.time_step = TimeStep{0.25, "year"};
  network.date = "2026-11-22";
  network.data = {"abc123", "data file"};
  network.missing_rows = 2;
  const std::string text = methods_text(network);
  for (const char* part : {"20 ordered pairs of 5 variables, in nats",
                           "algorithm 1",
                           "k = 4",
                           "199 rows, 0.25 year apart",
                           "2 rows with missing values",
                           "a link uses the rows in which its own variables have values",
                           "198 samples (embedded rows)",
                           "differences of their logarithms",
                           "Embedded columns were standardised",
                           "deviation 1e-08",
                           "history of 1 to 4 values",
                           "maximise its active information storage (Lizier et al. 2012); the chosen "
                           "histories are 1 to 3 and taus 1",
                           "lagged by 1 to 4 rows (0.25 to 1 year)",
                           "1000 surrogates",
                           "randomly permuted",
                           "Benjamini and Hochberg (1995)",
                           "adjusted p of 0.05; these are 20 of 20",
                           "Kolmo 0.1.0 on cpu, seed 0",
                           "2026-11-22",
                           "SHA-256 of the data file: abc123."})
    EXPECT_TRUE(holds(text, part)) << part << "\n" << text;
  EXPECT_FALSE(holds(text, "Theiler 1986"));
}

TEST(Methods, TextHasTheParametersOfTheSurrogates) {
  auto network = mock::network(3, 1);
  network.request.estimator.surrogate_type = SurrogateMethod::circular;
  for (NetworkLink& link : network.links) link.min_shift = 5;
  EXPECT_TRUE(holds(methods_text(network), "(Quian Quiroga et al. 2002), at least 5; p = "));
  network.links[1].min_shift = 9;
  EXPECT_TRUE(holds(methods_text(network), "(Quian Quiroga et al. 2002), at least 5 to 9, by link; p = "));
  network.request.estimator.surrogate_type = SurrogateMethod::block,
  network.request.estimator.block_length = 12;
  EXPECT_TRUE(holds(methods_text(network), "shuffled in blocks of 12 rows; p = "));
}

TEST(Methods, ReferencesFollowTheOptions) {
  auto network = mock::network(3, 1);
  EXPECT_EQ(keys(network), (std::vector<std::string>{"schreiber2000", "kraskov2004", "frenzel2007",
                                                     "theiler1992", "benjamini1995"}));
  network.request.embedding = EmbeddingRule::ragwitz;
  network.request.estimator.surrogate_type = SurrogateMethod::circular;
  network.request.correction = Correction::bonferroni;
  network.request.estimator.theiler = 5;
  EXPECT_EQ(keys(network),
            (std::vector<std::string>{"schreiber2000", "kraskov2004", "frenzel2007", "ragwitz2002",
                                      "theiler1986", "theiler1992", "quianquiroga2002"}));
  EXPECT_TRUE(holds(methods_text(network), "within 5 rows of each other"));
  network.request.estimator.surrogates = 0;
  EXPECT_TRUE(holds(methods_text(network), "No link was tested"));
  EXPECT_FALSE(holds(methods_text(network), "significant at"));
  for (const Reference& r : references(network)) {
    EXPECT_TRUE(holds(bibtex(network), "{" + std::string(r.key) + ","));
    EXPECT_EQ(r.text.find("doi:10.") == std::string::npos, false);
  }
}

TEST(Methods, TextListsOtherOptionsThatAreNotTheDefault) {
  auto network = mock::network(3, 1);
  EXPECT_FALSE(holds(methods_text(network), "Further options"));
  network.request.rows = "10:90";
  network.request.estimator.theiler = 3, network.request.estimator.theiler_scope = TheilerScope::set;
  EXPECT_TRUE(holds(methods_text(network), "Further options: theiler_scope set, rows 10:90."));
}

TEST(Methods, BibtexIsBalanced) {
  auto network = mock::network(3, 1);
  network.date = "2026-11-22";
  int depth = 0;
  for (const char c : bibtex(network)) depth += (c == '{') - (c == '}');
  EXPECT_EQ(depth, 0);
  EXPECT_TRUE(holds(bibtex(network), "year = {2026}"));
}

}  // namespace
}  // namespace kolmo
