#include "cli/advise_trace.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kolmo/base/dtype.hpp"
#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;
using Operand = TracedCall::Operand;

/// What is wrong in a trace.
struct Damage {
  std::string what;
};

std::uint64_t whole(const Json& j, const std::string& what) {
  constexpr std::uint64_t most = std::uint64_t(1) << 63;
  if (!j.is_number_unsigned() || j.get<std::uint64_t>() >= most)
    throw Damage{what + " is " + j.dump() + ", and no whole number from 0 to 2^63 - 1"};
  return j.get<std::uint64_t>();
}

double number(const Json& j, const std::string& what, double least) {
  constexpr double most = 1e18;
  const auto value = j.get<double>();
  if (!(value >= least && value <= most)) throw Damage{what + " is " + j.dump()};
  return value;
}

Operand operand_of(const Json& j) {
  Operand o{j.at("name").get<std::string>(), j.at("dtype").get<std::string>(), {}, false, false, 0, 0};
  const auto kind = j.at("kind").get<std::string>();
  if (kind != "in" && kind != "out" && kind != "inout") throw Damage{"'" + kind + "' is no kind of tensor"};
  o.read = kind != "out", o.written = kind != "in";
  const auto dtype = std::ranges::find_if(all_dtypes, [&](const DType t) { return to_string(t) == o.dtype; });
  if (dtype == std::end(all_dtypes)) throw Damage{"'" + o.dtype + "' is no dtype"};
  o.bytes = size_of(*dtype);
  if (!j.at("shape").is_array()) throw Damage{"the shape of " + o.name + " is no list"};
  bool counts = true;
  for (const Json& extent : j.at("shape")) {
    o.shape.push_back(whole(extent, "an extent of " + o.name));
    counts &= !__builtin_mul_overflow(o.bytes, o.shape.back(), &o.bytes);
  }
  o.address = whole(j.at("address"), "the address of " + o.name);
  std::uint64_t end = 0;
  if (!counts || __builtin_add_overflow(o.address, o.bytes, &end))
    throw Damage{o.name + " is larger than any memory"};
  return o;
}

TracedCall call_of(const Json& e, const std::string& name,
                   const std::map<std::uint64_t, std::string>& tracks) {
  const Json& about = e.at("args");
  const auto track = tracks.find(whole(e.at("tid"), "the track of " + name));
  if (track == tracks.end()) throw Damage{"the track of " + name + " has no name"};
  if (e.at("dur").get<double>() < 0) throw Damage{"a call of " + name + " takes a negative time"};
  TracedCall call{name,
                  track->second,
                  about.at("device").get<std::string>(),
                  1e-6 * number(e.at("ts"), "the begin of " + name, 0),
                  1e-6 * number(e.at("dur"), "the time of " + name, 0),
                  number(about.at("bytes"), "the number of bytes of " + name, 1),
                  about.at("options").get<std::map<std::string, std::string>>(),
                  {}};
  if (!about.at("tensors").is_array()) throw Damage{"the tensors of " + name + " are no list"};
  for (const Json& t : about.at("tensors")) call.operands.push_back(operand_of(t));
  return call;
}

/// Every call of a trace, in its order.
std::vector<TracedCall> all_calls(const Json& trace, const std::string& label) {
  std::map<std::uint64_t, std::string> tracks;
  std::vector<TracedCall> calls;
  std::size_t spans = 0;
  if (!trace.at("traceEvents").is_array()) throw Damage{"traceEvents is no list"};
  for (const Json& e : trace.at("traceEvents")) {
    const auto kind = e.at("ph").get<std::string>();
    if (kind == "M") {
      tracks[whole(e.at("tid"), "a track")] = e.at("args").at("name").get<std::string>();
      continue;
    }
    if (kind != "X") throw Damage{"it has an event of the kind '" + kind + "'"};
    ++spans;
    const auto name = e.at("name").get<std::string>();
    if (e.contains("args") && !name.starts_with("queue ")) calls.push_back(call_of(e, name, tracks));
  }
  if (spans && calls.empty())
    fail<InvalidArgument>(label + ": says nothing of the arguments of its " + std::to_string(spans) +
                          " spans; record it again with this version");
  std::map<std::string, double> seconds;
  for (const TracedCall& c : calls) seconds[c.device] += c.seconds;
  for (const auto& [device, total] : seconds)
    if (total == 0) throw Damage{"the calls on " + device + " take no time"};
  return calls;
}

/// For each address the first two calls, seen backwards in time, that read it before it is written.
class Readers {
 public:
  struct State {
    std::ptrdiff_t first = -1;
    bool more = false;
    bool operator==(const State&) const = default;
  };

  void read(const Operand& o, std::ptrdiff_t call) {
    change(o, [&](const State& s) { return State{call, s.first >= 0 && s.first != call ? true : s.more}; });
  }
  void write(const Operand& o) {
    change(o, [](const State&) { return State{}; });
  }
  /// The only call that reads any of it, or -1.
  std::ptrdiff_t only(const Operand& o) const {
    std::ptrdiff_t found = -1;
    for (auto at = std::prev(states_.upper_bound(o.address)); at != states_.end() && at->first < o.end();
         ++at) {
      const State& s = at->second;
      if (s.more || (found >= 0 && s.first >= 0 && s.first != found)) return -1;
      found = std::max(found, s.first);
    }
    return found;
  }

 private:
  using States = std::map<std::uint64_t, State>;  // the state from an address to the next

  States::iterator cut(std::uint64_t address) {
    const auto after = states_.upper_bound(address), at = std::prev(after);
    return at->first == address ? at : states_.emplace_hint(after, address, at->second);
  }
  /// Removes a state that is equal to the one before it, so that their number stays small, and returns the one after it.
  States::iterator joined(States::iterator at) {
    return at != states_.begin() && std::prev(at)->second == at->second ? states_.erase(at) : std::next(at);
  }
  template <class F>
  void change(const Operand& o, const F& changed) {
    if (!o.bytes) return;
    cut(o.end());
    auto at = cut(o.address);
    for (; at->first < o.end(); at = joined(at)) at->second = changed(at->second);
    joined(at);
  }

  States states_{{0, {}}};
};

}  // namespace

std::string TracedCall::option(const std::string& of) const {
  const auto at = options.find(of);
  return at == options.end() ? std::string() : at->second;
}

const Operand* TracedCall::operand(std::string_view of) const {
  const auto at = std::ranges::find(operands, of, &Operand::name);
  return at == operands.end() ? nullptr : &*at;
}

const Operand* TracedCall::reader_of(const Operand& o) const {
  const Operand* found = nullptr;
  for (const Operand& own : operands) {
    if (!own.read || !own.touches(o)) continue;
    if (found || !own.same_memory(o)) return nullptr;
    found = &own;
  }
  return found;
}

const Operand* TracedCall::output() const {
  const auto at = std::ranges::find_if(operands, &Operand::written);
  return at == operands.end() ? nullptr : &*at;
}

std::vector<TracedCall> read_trace(const std::string& text, const std::string& label) {
  std::vector<TracedCall> calls;
  try {
    calls = all_calls(parse_json<Json>(text, label), label);
  } catch (const Damage& e) {
    fail<InvalidArgument>(label + ": is no trace that --trace wrote: " + printable(e.what, 200));
  } catch (const nlohmann::json::exception& e) {
    fail<InvalidArgument>(label + ": is no trace that --trace wrote: " + printable(e.what(), 200));
  }
  std::ranges::stable_sort(calls, {}, [](const TracedCall& c) { return std::pair(c.track, c.begin); });
  std::vector<TracedCall> outer;
  for (TracedCall& c : calls)
    if (outer.empty() || outer.back().track != c.track ||
        c.begin >= outer.back().begin + outer.back().seconds)
      outer.push_back(std::move(c));
  return outer;
}

std::vector<std::ptrdiff_t> only_readers(const std::vector<TracedCall>& calls) {
  std::vector<std::size_t> by_time(calls.size());
  std::iota(by_time.begin(), by_time.end(), 0);
  std::ranges::stable_sort(by_time, {}, [&](std::size_t i) { return calls[i].begin; });
  std::vector<std::ptrdiff_t> only(calls.size(), -1);
  Readers readers;
  for (auto at = by_time.rbegin(); at != by_time.rend(); ++at) {
    const TracedCall& c = calls[*at];
    if (const Operand* const result = c.output()) only[*at] = readers.only(*result);
    for (const Operand& o : c.operands)
      if (o.written) readers.write(o);
    for (const Operand& o : c.operands)
      if (o.read) readers.read(o, std::ptrdiff_t(*at));
  }
  return only;
}

}  // namespace kolmo::cli
