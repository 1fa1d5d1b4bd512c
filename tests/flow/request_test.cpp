#include "kolmo/flow/request/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <map>
#include <set>

#include "cli/option.hpp"
#include "kolmo/flow/analysis/catalogue.hpp"
#include "kolmo/flow/request/options_json.hpp"
#include "kolmo/flow/request/settle.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

/// The message of the error that `f` throws.
template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "";
}

constexpr auto network_fields = NetworkRequest::fields();

NetworkRequest network_with(const Json& options) {
  NetworkRequest r;
  read_options(network_fields, &r, options, "network");
  return r;
}

TEST(Request, NamesAndAliasesAreUnique) {
  for (const AnalysisInfo& analysis : all_analyses()) {
    std::set<std::string_view> names;
    for (const OptionInfo& o : analysis.options) {
      EXPECT_TRUE(names.insert(o.name).second) << analysis.name << " " << o.name;
      const bool fresh = o.alias.empty() || names.insert(o.alias).second;
      EXPECT_TRUE(fresh) << analysis.name << " " << o.alias;
      EXPECT_FALSE(o.help.empty()) << o.name;
      EXPECT_EQ(o.automatic.empty(), !(o.option_kind == OptionKind::value && o.optional) || o.name == "dt")
          << o.name;
    }
  }
}

TEST(Request, OptionsWithOneNameHaveOneDefault) {
  std::map<std::string, std::pair<std::string_view, std::string>> seen;
  // The number of surrogates is asked for where they answer the question, and their kind depends on the statistic.
  const std::set<std::string_view> by_analysis{"surrogates", "surrogate_type", "max_lag", "history", "tau"};
  for (const AnalysisInfo& analysis : all_analyses()) {
    const auto usual = analysis.make();
    for (const OptionInfo& o : analysis.options) {
      if (by_analysis.contains(o.name)) continue;
      const auto [at, first] = seen.emplace(o.name, std::pair(analysis.name, o.text(usual.get())));
      EXPECT_EQ(at->second.second, o.text(usual.get()))
          << o.name << " of " << at->second.first << " and " << analysis.name;
    }
  }
}

TEST(Request, JsonReadsBack) {
  const NetworkRequest r = settled(network_with({{"max_lag", 3},
                                                 {"k", 5},
                                                 {"random_state", 18446744073709551615u},
                                                 {"noise", 1e-9},
                                                 {"transform", "log_difference"},
                                                 {"given", "a:2"},
                                                 {"surrogates", 99}}));
  EXPECT_EQ(r.max_lag, 3);
  EXPECT_EQ(r.estimator.neighbors, 5);
  EXPECT_EQ(r.estimator.seed, 18446744073709551615u);
  EXPECT_EQ(r.preparation.transform, Transform::log_difference);
  const Json j = options_json(r);
  EXPECT_EQ(j["neighbors"], 5);
  EXPECT_EQ(j["given"], "a:2");
  EXPECT_EQ(j["transform"], "log-difference");
  EXPECT_EQ(options_json(settled(network_with(j))), j);
}

TEST(Request, WrongOptionsAreNamed) {
  EXPECT_EQ(message([] {
              network_with({{"max_lagg", 3}});
            }),
            "network: there is no option 'max_lagg'; did you mean 'max_lag'?");
  EXPECT_THAT(message([] { network_with({{"max_lag", 0}}); }), HasSubstr("max_lag is 0, accepted are 1 to"));
  EXPECT_THAT(message([] {
                network_with({{"max_lag", 1.5}});
              }),
              HasSubstr("max_lag is '1.5', expected an integer"));
  EXPECT_THAT(message([] {
                network_with({{"estimator", "ksgg"}});
              }),
              HasSubstr("estimator is 'ksgg', accepted are ksg,"));
  EXPECT_THAT(message([] {
                network_with({{"strict", "yes"}});
              }),
              HasSubstr("strict is 'yes', accepted are true and false"));
  EXPECT_THAT(message([] { network_with({{"columns", {1, 2}}}); }), HasSubstr("columns is [1,2]"));
}

TEST(Request, OptionsOfOtherEstimatorsAreRefused) {
  const auto settle = [](const Json& j) { return message([&] { settled(network_with(j)); }); };
  EXPECT_EQ(settle({{"estimator", "gaussian"}, {"neighbors", 7}}),
            "--neighbors is for --estimator ksg, not for --estimator gaussian");
  EXPECT_EQ(settle({{"order", 4}}), "--order is for --estimator ordinal, not for --estimator ksg");
  EXPECT_EQ(settle({{"bias", "miller-madow"}}),
            "--bias is for --estimator discrete or ordinal, not for --estimator ksg");
  EXPECT_EQ(settle({{"estimator", "gaussian"}, {"surrogate_type", "block"}}),
            "--surrogate-type needs --surrogates: the test of --estimator gaussian is analytic without");
  EXPECT_EQ(settle({{"estimator", "gaussian"}, {"surrogate_type", "block"}, {"surrogates", 50}}), "");
  EXPECT_EQ(settle({{"exceedances", 1}}), "--exceedances: must be 0, or 2 or more");
  EXPECT_EQ(settle({{"exceedances", 5}, {"p_value", "plain"}}),
            "--exceedances: needs --p-value plus-one, and with plain must be 0");
  EXPECT_EQ(settle({{"exceedances", 5}, {"estimator", "gaussian"}}),
            "--exceedances needs --surrogates, and there are none");
  EXPECT_EQ(settle({{"embedding", "ais"}, {"tau", 2}}), "--history and --tau need --embedding given");
  EXPECT_EQ(settle({{"estimator", "discrete"}, {"device", "cuda"}}),
            "--estimator discrete runs on the cpu, not on --device cuda");
}

TEST(Request, WhatIsLeftOutIsSettled) {
  EXPECT_EQ(settled(NetworkRequest{}).estimator.surrogates, 100000);
  EXPECT_EQ(settled(NetworkRequest{}).exceedances, 10);
  EXPECT_EQ(settled(network_with({{"exceedances", 0}})).estimator.surrogates, 1000);
  EXPECT_EQ(settled(network_with({{"p_value", "plain"}})).exceedances, 0);
  EXPECT_EQ(settled(network_with({{"surrogates", 0}})).exceedances, std::nullopt);
  EXPECT_EQ(settled(network_with({{"estimator", "gaussian"}})).estimator.surrogates, 0);
  EXPECT_EQ(settled(NetworkRequest{}).embedding, EmbeddingRule::ais);
  EXPECT_EQ(settled(network_with({{"tau", 2}})).embedding, EmbeddingRule::given);
  EXPECT_EQ(settled(network_with({{"tau", 2}})).history, 1);
  EXPECT_EQ(settled(TransferEntropyRequest{}).embedding, EmbeddingRule::given);
  EXPECT_EQ(settled(StorageRequest{}).estimator.surrogate_type, SurrogateMethod::permute);
  for (const AnalysisInfo& analysis : all_analyses()) {  // settling twice changes nothing
    const auto request = analysis.make();
    analysis.settle(request.get());
    std::vector<std::string> once;
    for (const OptionInfo& o : analysis.options) once.push_back(o.text(request.get()));
    analysis.settle(request.get());
    for (std::size_t i = 0; i < once.size(); ++i)
      EXPECT_EQ(analysis.options[i].text(request.get()), once[i])
          << analysis.name << " " << analysis.options[i].name;
  }
}

/// Mutual information with one option more: a member, and a line in fields().
struct WiderRequest : MutualInformationRequest {
  std::int64_t stride = 1;

  static constexpr auto fields() {
    return join(
        list_of(value_option<&WiderRequest::stride>("stride", 1, 64, "rows from one sample to the next")
                    .also("every")),
        inherited<WiderRequest, MutualInformationRequest>(MutualInformationRequest::fields()));
  }
};

TEST(Request, AnOptionMoreIsOneLine) {
  static constexpr auto fields = WiderRequest::fields();
  WiderRequest r;
  const WiderRequest usual;
  CLI::App app;
  cli::add_options(app, fields, &r);
  EXPECT_THAT(app.help(), HasSubstr("--stride,--every N in [1 - 64]=1"));
  EXPECT_THAT(app.help(), HasSubstr("rows from one sample to the next"));
  app.parse("--every 4 --x a,b --y c --neighbors 7");
  EXPECT_EQ(r.stride, 4);
  EXPECT_EQ(r.x.text, "a,b");
  EXPECT_EQ(r.estimator.neighbors, 7);
  EXPECT_EQ(command_options(fields, &r, &usual),
            (CommandOptions{{"--stride", "4"}, {"--x", "a,b"}, {"--y", "c"}, {"--neighbors", "7"}}));
  read_options(fields, &r, {{"stride", 5}}, "wider");
  EXPECT_EQ(find_option(fields, "every", "wider").json(&r), 5);
  AnalysisInfo info = find_analysis("mi");
  info.options = fields,
  info.make = +[]() -> std::shared_ptr<void> { return std::make_shared<WiderRequest>(); };
  EXPECT_EQ(describe(info)["options"][0]["name"],
            "stride");  // of which Python and the reference pages are made
  EXPECT_EQ(describe(info)["options"][0]["default"], 1);
  EXPECT_THROW(app.parse("--x a --y b --stride 65"), CLI::ValidationError);
}

TEST(Columns, NamesAndNumbersAreQuotedApart) {
  Columns c;
  c.add(3).add("3-4").lags(1, 2).add("a \"b\"").lags(5, 5);
  EXPECT_EQ(c.text, "3,\"3-4\":1-2,\"a \"\"b\"\"\":5");
}

}  // namespace
}  // namespace kolmo
