#include "kolmo/monitor/server.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kolmo/base/error.hpp"
#include "kolmo/runtime/metrics.hpp"

namespace kolmo::monitor {
namespace {

std::string refusal(const std::string& address) {
  try {
    const Server server(address);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Server, ServesMetricsSnapshotAndPage) {
  const Server server("0");
  EXPECT_TRUE(server.loopback());
  EXPECT_TRUE(server.url().starts_with("http://127.0.0.1:")) << server.url();
  metrics::gauge("kolmo_test_served").set(41);
  EXPECT_NE(fetch(server.url(), "/metrics").find("\nkolmo_test_served 41\n"), std::string::npos);
  metrics::gauge("kolmo_test_served").set(42);
  EXPECT_NE(fetch(server.url(), "/metrics").find("\nkolmo_test_served 42\n"), std::string::npos);
  const auto s = nlohmann::json::parse(fetch(server.url(), "/api/v1/snapshot"));
  EXPECT_EQ(s["cpu"].size(), 1U);
  EXPECT_FALSE(s.contains("curves"));
  EXPECT_TRUE(nlohmann::json::parse(fetch(server.url(), "/api/v1/snapshot?curves=1")).contains("curves"));
  const std::string page = fetch(server.url(), "/");
  EXPECT_NE(page.find("</html>"), std::string::npos);
  for (const char* elsewhere : {"src=\"http", "href=\"http", "@import", "url(http"})
    EXPECT_EQ(page.find(elsewhere), std::string::npos) << elsewhere;
  EXPECT_THROW(fetch(server.url(), "/nothing"), Error);
}

TEST(Server, SaysThatAPortIsTaken) {
  const Server first("127.0.0.1:0");
  const std::string address = first.url().substr(7, first.url().size() - 8);
  EXPECT_EQ(refusal(address), "metrics: cannot listen on " + address + ": Address already in use");
  EXPECT_FALSE(fetch(first.url(), "/metrics").empty()) << "the first goes on";
}

TEST(Server, APortIsFreeAgainWhenItEnds) {
  std::string address;
  {
    const Server first("0");
    address = first.url().substr(7, first.url().size() - 8);
    fetch(first.url(), "/metrics");
  }
  EXPECT_EQ(refusal(address), "");
}

TEST(Server, RefusesWhatIsNoAddress) {
  for (const char* bad : {"", "x", "127.0.0.1", "127.0.0.1:", ":70000", "a b:1", "127.0.0.1:12x", "::1:80",
                          "[]:80", "http://127.0.0.1:9750", "127.0.0.1:-1"})
    EXPECT_THROW(Server{bad}, InvalidArgument) << bad;
  EXPECT_NE(refusal("no-such-host.invalid:9750"), "");
}

TEST(Server, NoAnswerIsAnError) {
  std::string url;
  {
    const Server gone("0");
    url = gone.url();
  }
  EXPECT_THROW(fetch(url, "/metrics"), Error);
  EXPECT_THROW(fetch("nonsense", "/metrics"), InvalidArgument);
}

}  // namespace
}  // namespace kolmo::monitor
