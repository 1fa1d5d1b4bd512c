// Cost of an allocate/free pair, and peak memory of replayed traces: Kolmo's pool beside other allocators.
//   bench_memory --device cpu --record results.json
// Each process times every arm in turn, and each process starts with a different one. Medians are over
// processes.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#ifdef KOLMO_MIMALLOC
#include <mimalloc.h>
#endif

#include "bench/memory_arms.hpp"
#include "bench/record.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/monitor/memory/analysis.hpp"
#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/memory/pool.hpp"
#include "kolmo/runtime/memory/tracker.hpp"

namespace kolmo::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

class PoolSession final : public Session {
 public:
  explicit PoolSession(Device device)
      : backend_(backend(device)), stream_(backend_.make_stream()), front_(backend_.pool().enter(stream_)) {}
  ~PoolSession() override {
    backend_.pool().leave(front_);
    backend_.destroy_stream(stream_);
  }
  Piece get(std::size_t bytes) override {
    const auto block = backend_.pool().allocate(front_, bytes);
    return {block.data, block.run};
  }
  void put(Piece p, std::size_t bytes) override {
    backend_.pool().deallocate(front_, {p.data, static_cast<memory::Run*>(p.origin)}, bytes);
  }

 private:
  Backend& backend_;
  Backend::Handle stream_;
  memory::Front& front_;
};

template <auto allocate, auto release>
class Plain final : public Session {
 public:
  Piece get(std::size_t bytes) override { return {allocate(bytes)}; }
  void put(Piece p, std::size_t) override { release(p.data); }
};
template <auto allocate, auto release>
Arm plain(const char* name) {
  return {name, []() -> std::unique_ptr<Session> { return std::make_unique<Plain<allocate, release>>(); }};
}

std::vector<Arm> arms(Device device) {
  std::vector<Arm> all{{"kolmo", [=] { return std::make_unique<PoolSession>(device); }}};
  if (device.kind == DeviceKind::cuda) {
    for (Arm& arm : cuda_arms(device)) all.push_back(std::move(arm));
    return all;
  }
  all.push_back(plain<std::malloc, std::free>("malloc"));
#ifdef KOLMO_MIMALLOC
  all.push_back(plain<mi_malloc, mi_free>("mimalloc"));
#endif
  return all;
}

struct Load {
  std::string pattern;
  std::size_t bytes;
  int threads;
};

void touch(const Piece& p, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(p.data)[at] = 1;
}

/// Measures the nanoseconds per pair: one number for each batch of pairs.
std::vector<double> time_thread(Session& s, const Load& load, unsigned seed) {
  const std::size_t batch = load.bytes >= 1 << 20 ? 8 : 64;
  const int batches = load.bytes >= 1 << 20 ? 100 : 400;
  std::mt19937_64 random(seed);
  std::vector<std::pair<Piece, std::size_t>> live;
  const auto some = [&] { return load.bytes / 8 + random() % load.bytes; };
  if (load.pattern == "churn")
    for (int i = 0; i < 256; ++i) {
      const std::size_t n = some();
      live.push_back({s.get(n), n});
    }
  std::vector<double> samples;
  for (int b = -batches / 10; b < batches; ++b) {
    std::vector<std::pair<std::size_t, std::size_t>> turns;
    if (!live.empty())
      for (std::size_t i = 0; i < batch; ++i) turns.emplace_back(random() % live.size(), some());
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < batch; ++i) {
      if (live.empty()) {
        const Piece p = s.get(load.bytes);
        if (load.pattern == "pair, touched") touch(p, load.bytes);
        s.put(p, load.bytes);
      } else {
        auto& [piece, n] = live[turns[i].first];
        s.put(piece, n);
        n = turns[i].second;
        piece = s.get(n);
      }
    }
    if (b >= 0)
      samples.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
                        double(batch));
  }
  for (const auto& [piece, n] : live) s.put(piece, n);
  return samples;
}

Json measure(const Arm& arm, const Load& load) {
  std::vector<std::vector<double>> each(std::size_t(load.threads));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < load.threads; ++t)
      threads.emplace_back([&, t] {
        const auto session = arm.open();
        each[std::size_t(t)] = time_thread(*session, load, unsigned(t));
      });
  }
  std::vector<double> all;
  for (const auto& one : each) all.insert(all.end(), one.begin(), one.end());
  std::sort(all.begin(), all.end());
  return {{"pattern", load.pattern}, {"bytes", load.bytes},           {"threads", load.threads},
          {"arm", arm.name},         {"ns_p50", all[all.size() / 2]}, {"ns_p99", all[all.size() * 99 / 100]}};
}

std::vector<Load> loads(Device device) {
  std::vector<Load> all;
  const bool host = device.kind != DeviceKind::cuda;
  std::vector<std::size_t> sizes{256, 4 << 10, 64 << 10, 1 << 20, 16 << 20};
  if (!host) sizes.push_back(std::size_t(1) << 30);
  for (const std::size_t bytes : sizes)
    for (const int threads : {1, 4}) all.push_back({"pair", bytes, threads});
  if (host)
    for (const std::size_t bytes : {std::size_t(64) << 10, std::size_t(16) << 20})
      all.push_back({"pair, touched", bytes, 1});
  for (const std::size_t bytes : {std::size_t(4) << 10, std::size_t(256) << 10})
    for (const int threads : {1, 4}) all.push_back({"churn", bytes, threads});
  return all;
}

/// Measures in one process: every arm under every load, and the cost of recording a trace.
Json process(Device device, int number) {
  Json results = Json::array();
  const std::vector<Arm> all = arms(device);
  for (const Load& load : loads(device))
    for (std::size_t i = 0; i < all.size(); ++i)
      results.push_back(measure(all[(i + std::size_t(number)) % all.size()], load));
  memory::start_tracking();
  Arm tracked = all[0];
  tracked.name = "kolmo, recorded";
  for (const std::size_t bytes : {std::size_t(256), std::size_t(64) << 10})
    results.push_back(measure(tracked, {"pair", bytes, 1}));
  memory::stop_tracking();
  return results;
}

/// A step of a sequence of allocations; `block` numbers the blocks.
struct Step {
  std::size_t block, bytes;
  int stream;
  bool allocates;
};

std::vector<Step> random_allocations(int streams, std::size_t largest, std::size_t most, int count) {
  std::mt19937_64 random(1);
  std::vector<Step> steps;
  std::vector<std::pair<std::size_t, std::pair<std::size_t, int>>> live;
  std::size_t bytes = 0, next = 0;
  while (count-- > 0) {
    const std::size_t size =
        1 + std::size_t(double(largest) * std::pow(double(random() % 1000 + 1) / 1000, 3));
    const int stream = int(random() % std::uint64_t(streams));
    if (bytes + size < most && (live.empty() || random() % 2)) {
      steps.push_back({next, size, stream, true});
      live.push_back({next++, {size, stream}});
      bytes += size;
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      const auto [block, what] = live.back();
      live.pop_back();
      steps.push_back({block, what.first, what.second, false});
      bytes -= what.first;
    }
  }
  return steps;
}

/// The allocations of a network's forward and backward passes: weights stay, activations are freed in reverse
/// order.
std::vector<Step> training(int layers, int rounds) {
  std::vector<Step> steps;
  std::size_t next = 0;
  const auto size = [](int layer) { return (std::size_t(1) << 20) * std::size_t(1 + layer * 7 % 12); };
  for (int l = 0; l < layers; ++l) steps.push_back({next++, size(l), 0, true});
  for (int r = 0; r < rounds; ++r) {
    const std::size_t first = next;
    for (int l = 0; l < layers; ++l) {
      steps.push_back({next++, size(l) * 3, 0, true});
      steps.push_back({next, 64 << 10, 0, true});  // a workspace
      steps.push_back({next++, 64 << 10, 0, false});
    }
    for (int l = layers; l-- > 0;) steps.push_back({first + 2 * std::size_t(l), size(l) * 3, 0, false});
  }
  return steps;
}

/// The steps of a recorded trace's busiest pool.
std::vector<Step> recorded(const std::string& file) {
  const memory::Trace trace = memory::read_trace(nlohmann::ordered_json::parse(read_file(file)), file);
  std::map<int, std::size_t> events;
  for (const auto& e : trace.events) ++events[e.pool];
  int pool = 0;
  for (const auto& [p, n] : events)
    if (n > events[pool]) pool = p;
  std::vector<Step> steps;
  std::map<std::uint64_t, std::size_t> block;
  for (const auto& e : trace.events) {
    if (e.pool != pool) continue;
    if (e.action == memory::Action::allocate) {
      block[e.address] = steps.size();
      steps.push_back({steps.size(), e.requested, e.stream, true});
    } else if (e.action == memory::Action::free && block.count(e.address)) {
      steps.push_back({block[e.address], e.requested, e.stream, false});
      block.erase(e.address);
    }
  }
  return steps;
}

/// Measures R, A and L (docs/memory.md) of a pool that executes the steps.
Json replay(Device device, const std::string& name, const std::vector<Step>& steps) {
  memory::Pool pool(backend(device), {.name = "replay"});
  std::map<int, std::pair<Backend::Handle, memory::Front*>> streams;
  std::map<std::size_t, std::pair<memory::Pool::Block, Step>> live;
  memory::start_tracking(4 * steps.size() + 1024);
  const auto begin = Clock::now();
  for (const Step& s : steps) {
    auto& [handle, front] = streams[s.stream];
    if (!front) handle = backend(device).make_stream(), front = &pool.enter(handle);
    if (s.allocates) {
      live[s.block] = {pool.allocate(*front, s.bytes), s};
    } else {
      pool.deallocate(*front, live.at(s.block).first, s.bytes);
      live.erase(s.block);
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const memory::Trace trace = memory::stop_tracking();
  memory::PoolAnalysis a;
  for (std::size_t i = 0; i < trace.pools.size(); ++i)
    if (trace.pools[i].stats.name == "replay") a = memory::analyse(trace, i);
  for (const auto& [block, what] : live)
    pool.deallocate(*streams[what.second.stream].second, what.first, what.second.bytes);
  for (const auto& [stream, what] : streams) {
    pool.leave(*what.second);
    backend(device).destroy_stream(what.first);
  }
  return {{"trace", name},
          {"events", steps.size()},
          {"streams", streams.size()},
          {"seconds_recorded", seconds},
          {"reserved_peak_bytes", a.reserved_peak},
          {"packed_bytes", a.packed},
          {"lower_bound_bytes", a.lower_bound},
          {"reserved_to_lower_bound", double(a.reserved_peak) / double(a.lower_bound)},
          {"reserved_to_packed", double(a.reserved_peak) / double(a.packed)}};
}

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) fail<DeviceError>("bench_memory: cannot start a process");
  std::string text;
  char part[4096];
  while (const std::size_t n = fread(part, 1, sizeof part, pipe)) text.append(part, n);
  if (pclose(pipe) != 0) fail<DeviceError>("bench_memory: a process failed");
  return text;
}

/// Summarises the processes: the median, minimum and maximum of each number.
Json summary(const std::vector<Json>& processes) {
  std::vector<Json> rows;
  std::map<std::string, std::vector<double>> p50, p99;
  const auto key = [](const Json& r) {
    return r["pattern"].dump() + r["bytes"].dump() + r["threads"].dump() + r["arm"].dump();
  };
  for (const Json& one : processes)
    for (const Json& r : one) {
      if (!p50.count(key(r))) rows.push_back(r);
      p50[key(r)].push_back(r["ns_p50"]);
      p99[key(r)].push_back(r["ns_p99"]);
    }
  Json all = Json::array();
  for (Json& r : rows) {
    auto &a = p50[key(r)], &b = p99[key(r)];
    r["processes"] = a;
    std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
    r["ns_p50"] = a[a.size() / 2], r["ns_p99"] = b[b.size() / 2];
    all.push_back(r);
  }
  return all;
}

int run(int argc, char** argv) {
  CLI::App app{"Kolmo's memory pool beside other allocators"};
  std::string device_name = "cpu", record;
  std::vector<std::string> traces;
  int processes = 5, child = -1;
  app.add_option("--device", device_name, "cpu, or cuda:N")->capture_default_str();
  app.add_option("--processes", processes, "fresh processes")->capture_default_str();
  app.add_option("--replay", traces, "traces to replay, written by kolmo --memory-trace");
  app.add_option("--record", record, "write the results to this JSON file");
  app.add_option("--child", child)->group("");
  CLI11_PARSE(app, argc, argv);
  const Device device = parse_device(device_name);
  if (child >= 0) {
    std::cout << process(device, child).dump() << '\n';
    return 0;
  }
  std::vector<Json> each;
  for (int i = 0; i < processes; ++i)
    each.push_back(Json::parse(output_of("/proc/" + std::to_string(getpid()) + "/exe --device " +
                                         device_name + " --child " + std::to_string(i))));
  const DeviceInfo info = device_info(device);
  Json result{{"processors", info.processors}, {"processes", processes}, {"pairs", summary(each)}};
  Json& replays = result["replays"] = Json::array();
  replays.push_back(replay(device, "random, one stream", random_allocations(1, 4 << 20, 256 << 20, 20'000)));
  replays.push_back(
      replay(device, "random, four streams", random_allocations(4, 4 << 20, 256 << 20, 20'000)));
  replays.push_back(replay(device, "random, small", random_allocations(1, 32 << 10, 64 << 20, 20'000)));
  replays.push_back(replay(device, "training", training(24, 20)));
  for (const std::string& file : traces) replays.push_back(replay(device, file, recorded(file)));

  std::printf("%-14s %10s %8s  %-30s %10s %10s\n", "pattern", "bytes", "threads", "allocator", "p50 ns",
              "p99 ns");
  for (const Json& r : result["pairs"])
    std::printf("%-14s %10zu %8d  %-30s %10.0f %10.0f\n", r["pattern"].get<std::string>().c_str(),
                r["bytes"].get<std::size_t>(), r["threads"].get<int>(), r["arm"].get<std::string>().c_str(),
                r["ns_p50"].get<double>(), r["ns_p99"].get<double>());
  std::printf("\n%-24s %10s %10s %10s %8s %8s\n", "trace", "reserved R", "packed A", "bound L", "R/L", "R/A");
  for (const Json& r : replays)
    std::printf("%-24s %10s %10s %10s %8.3f %8.3f\n", r["trace"].get<std::string>().c_str(),
                bytes_text(r["reserved_peak_bytes"]).c_str(), bytes_text(r["packed_bytes"]).c_str(),
                bytes_text(r["lower_bound_bytes"]).c_str(), r["reserved_to_lower_bound"].get<double>(),
                r["reserved_to_packed"].get<double>());
  if (!record.empty()) write_record(record, "memory", info, result);
  return 0;
}

}  // namespace
}  // namespace kolmo::bench

int main(int argc, char** argv) { return kolmo::bench::status_of("memory", kolmo::bench::run, argc, argv); }
