#include "kolmo/io/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kolmo {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    parse_json(text, "f.json");
    return "";
  } catch (const InvalidArgument& e) {
    return e.what();
  }
}

std::string nested(int depth) {
  return std::string(std::size_t(depth), '[') + std::string(std::size_t(depth), ']');
}

TEST(Json, DepthIsLimitedBeforeItIsParsed) {
  EXPECT_EQ(refusal(nested(json_depth)), "");
  EXPECT_EQ(refusal(nested(json_depth + 1)), "f.json: is nested deeper than 64 levels");
  EXPECT_EQ(refusal(std::string(300'000, '[')), "f.json: is nested deeper than 64 levels");
  std::string objects;
  for (int i = 0; i <= json_depth; ++i) objects += "{\"a\":";
  EXPECT_THAT(refusal(objects), HasSubstr("deeper"));
}

TEST(Json, BracketsInStringsAreNoLevels) {
  const std::string brackets(200, '[');
  EXPECT_EQ(refusal("[\"" + brackets + "\"]"), "");
  EXPECT_EQ(refusal(R"(["\"[[[[\\", ")" + brackets + R"("])"), "");
  EXPECT_THAT(refusal("\"" + brackets), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal("\"\\"), HasSubstr("is no JSON"));
}

TEST(Json, WhatIsNoJsonIsNamed) {
  for (const char* text : {"", "{", "]]]]", "{\"a\":1}}", "nul", "[1,]"})
    EXPECT_THAT(refusal(text), testing::StartsWith("f.json: is no JSON: ")) << text;
  EXPECT_EQ(parse_json("[1, 2]", "f").size(), 2u);
}

}  // namespace
}  // namespace kolmo
