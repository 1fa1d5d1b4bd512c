#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/paths.hpp"

// Reference series and values outside the repository: in $KOLMO_TEST_DATA, or beside the checkout.
namespace kolmo::testing_flow {

inline std::filesystem::path shared_data() {
  const char* folder = std::getenv("KOLMO_TEST_DATA");
  return folder ? folder : source_dir() / "../shared/data";
}

}  // namespace kolmo::testing_flow

#define KOLMO_NEED_SHARED_DATA(file)                                                           \
  if (!std::filesystem::exists(kolmo::testing_flow::shared_data() / (file)))                   \
  GTEST_SKIP() << "reference data is missing: " << kolmo::testing_flow::shared_data() / (file) \
               << " (set KOLMO_TEST_DATA)"
