// Measures the search for the sources of one target after another, as `kolmo network --method multivariate` makes it of all, and of the
// whole network. Start of the device, reading and writing are left out.
//   bench_network_target data.csv --max-lag 5 --surrogates 200 --targets 10 --whole 3 --device cuda:0 --record results.json
#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "bench/record.hpp"
#include "kolmo/flow/analysis/network_analysis.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "kolmo/tune/statistics.hpp"

namespace kolmo::bench {
namespace {

int run(int argc, char** argv) {
  CLI::App app("The time of one target of a multivariate network");
  NetworkRequest request;
  request.method = NetworkMethod::multivariate;
  request.surrogates = 200;
  std::string file, record;
  int targets = 10, whole = 0;
  app.add_option("FILE", file, "the series")->required();
  app.add_option("--max-lag", request.max_lag, "as of kolmo network")->capture_default_str();
  app.add_option("--surrogates", request.surrogates, "of each test");
  app.add_option("--targets", targets, "the first so many variables, each by itself")->capture_default_str();
  app.add_option("--whole", whole, "runs of the network of all targets")->capture_default_str();
  app.add_option("--device", request.device, "as of kolmo network");
  app.add_option("--record", record, "write every sample to this JSON file");
  CLI11_PARSE(app, argc, argv);

  Session session(read_table(file));
  NetworkAnalysis analysis(settled(request), session);
  Stream stream(parse_device(request.device));
  const auto seconds_of = [&](std::vector<std::int32_t> chosen) {
    NetworkOptions options = analysis.options();
    options.targets = std::move(chosen);
    const auto begin = std::chrono::steady_clock::now();
    infer_network(analysis.series(), options, stream, nullptr, nullptr);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  seconds_of({0});  // loads kernels and allocates memory
  std::vector<double> alone, all;
  for (std::int32_t i = 0; i < targets; ++i) alone.push_back(seconds_of({i}));
  for (int i = 0; i < whole; ++i) all.push_back(seconds_of({}));
  for (const auto& [name, samples] : {std::pair("one target", alone), std::pair("all targets", all)})
    if (!samples.empty())
      std::cout << name << ": " << tune::median(samples) << " s, longest "
                << *std::max_element(samples.begin(), samples.end()) << " s\n";
  const Series& series = analysis.series();
  if (!record.empty())
    write_record(record, "network_target", device_info(stream.device()),
                 {{"variables", series.values.size()},
                  {"rows", series.rows()},
                  {"max_lag", request.max_lag},
                  {"surrogates", *request.surrogates},
                  {"seconds_of_each_target", alone},
                  {"seconds_of_all_targets", all}});
  return 0;
}

}  // namespace
}  // namespace kolmo::bench

int main(int argc, char** argv) {
  return kolmo::bench::status_of("network_target", kolmo::bench::run, argc, argv);
}
