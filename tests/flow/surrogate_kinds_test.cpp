#include <gtest/gtest.h>

#include <set>

#include "kolmo/flow/result/methods.hpp"
#include "kolmo/flow/surrogate/surrogate_kind.hpp"
#include "kolmo/io/file.hpp"
#include "tests/flow/network_mock.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

TEST(SurrogateKinds, AreInTheOrderOfTheirMethods) {
  for (std::size_t i = 0; i < std::size(surrogate_kinds); ++i) {
    const SurrogateKind& kind = surrogate_kinds[i];
    EXPECT_EQ(std::size_t(kind.method), i);
    EXPECT_EQ(kind.name, surrogate_method_names[i]);
    if (kind.rows) {
      EXPECT_EQ(kind.name, surrogate_type_names[std::size_t(*kind.rows)]);
    }
  }
}

TEST(SurrogateKinds, AreInTheDocumentation) {
  const std::string page = read_file((source_dir() / "docs/surrogates.md").string());
  for (const SurrogateKind& kind : surrogate_kinds) {
    const std::string row = "\n| `" + std::string(kind.name) + "` | " + std::string(kind.how) + " | ";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(SurrogateKinds, AreInMethodsAndReferences) {
  std::set<std::string> texts;
  for (const SurrogateKind& kind : surrogate_kinds) {
    auto network = mock::network(3, 1);
    network.request.estimator.surrogate_type = kind.method;
    network.request.estimator.block_length = 7;
    const std::string text = methods_text(network);
    EXPECT_NE(text.find(kind.in_methods.substr(0, kind.in_methods.find('{'))), std::string::npos) << text;
    EXPECT_TRUE(texts.insert(text).second) << kind.name;
    bool cited = kind.reference.empty();
    for (const Reference& r : references(network)) cited |= r.key == kind.reference;
    EXPECT_TRUE(cited) << kind.name;
  }
}

}  // namespace
}  // namespace kolmo
