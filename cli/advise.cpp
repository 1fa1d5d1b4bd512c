#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/table.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::cli {
namespace {
using Json = nlohmann::ordered_json;

/// A call of an operator in a trace.
struct Call {
  std::string name, track, device;
  double begin, seconds, bytes;
  std::map<std::string, std::string> options;
  struct Operand {
    std::string name;
    bool read, written;
    std::uint64_t address, bytes;
    bool touches(const Operand& o) const {
      return address < o.address + o.bytes && o.address < address + bytes;
    }
  };
  std::vector<Operand> operands;

  std::string option(const std::string& name) const {
    const auto at = options.find(name);
    return at == options.end() ? std::string() : at->second;
  }
  bool gives(std::string_view operand) const {
    return std::ranges::any_of(operands, [&](const Operand& o) { return o.name == operand; });
  }
  /// The operand that is exactly this memory, if the call reads it.
  const Operand* reader_of(const Operand& o) const {
    const auto at = std::ranges::find_if(operands, [&](const Operand& own) {
      return own.read && own.address == o.address && own.bytes == o.bytes;
    });
    return at == operands.end() ? nullptr : &*at;
  }
  const Operand* output() const {
    const auto at = std::ranges::find_if(operands, &Operand::written);
    return at == operands.end() ? nullptr : &*at;
  }
};

std::uint64_t bytes_of(const Json& tensor) {
  std::uint64_t bytes = 0;
  for (const DType t : all_dtypes)
    if (to_string(t) == tensor.at("dtype").get<std::string>()) bytes = size_of(t);
  for (const auto& extent : tensor.at("shape")) bytes *= extent.get<std::uint64_t>();
  return bytes;
}

/// The calls of a trace by track and time, without what ran within another call.
std::vector<Call> calls_of(const Json& trace, const std::string& label) {
  std::map<int, std::string> tracks;
  std::vector<Call> calls;
  std::size_t spans = 0;
  try {
    for (const Json& e : trace.at("traceEvents")) {
      if (e.at("ph") == "M") tracks[e.at("tid").get<int>()] = e.at("args").at("name").get<std::string>();
      if (e.at("ph") != "X") continue;
      ++spans;
      const auto name = e.at("name").get<std::string>();
      if (!e.contains("args") || name.starts_with("queue ")) continue;
      const Json& about = e.at("args");
      Call call{name,
                tracks[e.at("tid").get<int>()],
                about.at("device").get<std::string>(),
                1e-6 * e.at("ts").get<double>(),
                1e-6 * e.at("dur").get<double>(),
                about.at("bytes").get<double>(),
                about.at("options").get<std::map<std::string, std::string>>(),
                {}};
      if (!(call.seconds >= 0))
        fail<InvalidArgument>(label + ": a call of " + name + " takes a negative time");
      for (const Json& t : about.at("tensors")) {
        const auto kind = t.at("kind").get<std::string>();
        call.operands.push_back({t.at("name").get<std::string>(), kind != "out", kind != "in",
                                 t.at("address").get<std::uint64_t>(), bytes_of(t)});
      }
      calls.push_back(std::move(call));
    }
  } catch (const nlohmann::json::exception& e) {
    fail<InvalidArgument>(label + ": is no trace that --trace wrote: " + e.what());
  }
  if (spans && calls.empty())
    fail<InvalidArgument>(label + ": says nothing of the arguments of its " + std::to_string(spans) +
                          " spans; record it again with this version");
  std::ranges::stable_sort(calls, {}, [](const Call& c) { return std::pair(c.track, c.begin); });
  std::vector<Call> outer;
  for (Call& c : calls)
    if (outer.empty() || outer.back().track != c.track ||
        c.begin >= outer.back().begin + outer.back().seconds)
      outer.push_back(std::move(c));
  return outer;
}

const OpBase* operator_of(const std::string& name) {
  for (const OpEntry& entry : all_ops())
    if (entry.op->name == name) return entry.op;
  return nullptr;
}
bool is_elementwise(const std::string& name) {
  return std::ranges::any_of(
      all_ops(), [&](const OpEntry& e) { return e.op->name == name && e.group == "elementwise"; });
}

/// Returns the name for an operator with these options: an alias that binds just them, or the operator with the option.
std::string name_with(const OpBase& op, std::map<std::string, std::string> options,
                      const std::string& option) {
  for (const AliasInfo& alias : op.aliases()) {
    std::vector<std::byte> args = op.default_args(alias.name);
    bool fits = true, names_it = false;
    for (const FieldInfo& f : op.fields()) {
      if (f.is_tensor() || !alias.sets(f, args.data())) continue;
      fits &= options[std::string(f.name)] == f.text(f.value(args.data()));
      names_it |= f.name == option;
    }
    if (fits && names_it) return std::string(alias.name);
  }
  return std::string(op.name) + " with " + option + "=" + options[option];
}

/// Names what replaces a call and the one that reads its result. Nothing is returned if no operator does.
std::optional<std::string> replacement(Call& first, const Call& second, const Call::Operand& result) {
  const OpBase* const op = operator_of(first.name);
  if (!op) return {};
  const auto fields = op->fields();
  const auto field = [&](std::string_view name) {
    return std::ranges::find_if(fields, [&](const FieldInfo& f) { return f.name == name; });
  };
  std::string function = second.name;
  if (function == "gelu" && second.option("form") == "tanh") function = "gelu_tanh";
  if (const auto f = field("activation");
      f != fields.end() && first.option("activation") == "none" && std::ranges::count(f->choices, function)) {
    first.options["activation"] = function;
    return name_with(*op, first.options, "activation");
  }
  // The bias of these two is added along the last axis, as broadcast_add does.
  if ((first.name == "matmul" || first.name == "linear") && second.name == "broadcast_add" &&
      second.reader_of(result)->name == "x" && !first.gives("bias") && first.option("activation") == "none") {
    first.operands.push_back({"bias", true, false, 0, 0});
    return first.name + " with bias";
  }
  if (first.name == "elementwise_exp" && second.name == "normalize" && second.option("norm") == "sum")
    return "fused_exp_normalize";
  if (is_elementwise(first.name) && is_elementwise(second.name)) return "one elementwise kernel of your own";
  return {};
}

struct Advice {
  int times = 0;
  double model = 0, measured = 0;
};

/// Whether only `second` reads what `first` wrote, until something else is written there, or in the calls that follow.
bool read_once(const std::vector<Call>& by_time, const Call& first, const Call& second,
               const Call::Operand& result) {
  constexpr std::ptrdiff_t ahead = 2000;
  const auto from = std::ranges::upper_bound(by_time, first.begin, {}, &Call::begin);
  for (auto at = from; at != by_time.end() && at - from < ahead; ++at) {
    const Call& c = *at;
    const bool reads =
        std::ranges::any_of(c.operands, [&](const auto& o) { return o.read && o.touches(result); });
    if (reads && c.begin != second.begin) return false;
    if (std::ranges::any_of(c.operands, [&](const auto& o) { return o.written && o.touches(result); }))
      return true;
  }
  return true;
}

/// Returns the time that could be saved, by the chain of operators and by what replaces it.
std::map<std::pair<std::string, std::string>, Advice> advice_of(const std::vector<Call>& calls) {
  std::map<std::string, double> rate;  // bytes a second, the most that a call on the device reached
  for (const Call& c : calls)
    if (c.seconds > 0) rate[c.device] = std::max(rate[c.device], c.bytes / c.seconds);
  std::vector<Call> by_time = calls;
  std::ranges::sort(by_time, {}, &Call::begin);
  std::map<std::pair<std::string, std::string>, Advice> all;
  const auto follows = [&](std::size_t next) {  // whether it alone reads the result of the call before it
    if (next >= calls.size() || calls[next].track != calls[next - 1].track) return false;
    const Call::Operand* const result = calls[next - 1].output();
    return result && calls[next].reader_of(*result) &&
           read_once(by_time, calls[next - 1], calls[next], *result);
  };
  const auto saved = [&](std::size_t next) {
    return 2 * double(calls[next - 1].output()->bytes) / rate[calls[next].device];
  };
  for (std::size_t i = 0; i < calls.size();) {
    if (calls[i].name == "matmul" && follows(i + 1) && calls[i + 1].name == "softmax" && follows(i + 2) &&
        calls[i + 2].name == "matmul") {
      Advice& a = all[{"matmul > softmax > matmul", "fused_attention_softmax"}];
      ++a.times, a.model += saved(i + 1) + saved(i + 2), a.measured += calls[i + 1].seconds;
      i += 3;
      continue;
    }
    Call now = calls[i];
    std::string chain = now.name, by;
    double model = 0, measured = 0;
    std::size_t next = i + 1;
    for (; follows(next); ++next) {
      const Call& second = calls[next];
      const auto found = replacement(now, second, *calls[next - 1].output());
      if (!found) break;
      by = *found + (by.ends_with(" with bias") ? " and bias" : ""), chain += " > " + second.name;
      model += saved(next), measured += second.seconds;
      if (is_elementwise(now.name) || second.name == "normalize") now = second;
    }
    if (!by.empty()) {
      Advice& a = all[{chain, by}];
      ++a.times, a.model += model, a.measured += measured;
    }
    i = std::max(next, i + 1);
  }
  return all;
}

struct AdviseFlags {
  std::string trace;
  bool json = false;
};
void advise(const AdviseFlags& o) {
  constexpr std::uint64_t most = 512 << 20;
  const std::string label = file_label(o.trace);
  const auto calls = calls_of(parse_json<Json>(read_file(o.trace, most), label), label);
  const auto all = advice_of(calls);
  double total = 0;
  for (const Call& c : calls) total += c.seconds;
  if (o.json) {
    Json list = Json::array();
    for (const auto& [what, a] : all)
      list.push_back({{"chain", what.first},
                      {"replace_by", what.second},
                      {"times", a.times},
                      {"saved_seconds_model", a.model},
                      {"saved_seconds_measured", a.measured}});
    std::cout << Json{{"calls", calls.size()}, {"seconds", total}, {"advice", std::move(list)}}.dump(2)
              << '\n';
    return;
  }
  std::cout << calls.size() << " calls, " << duration(total) << '\n';
  if (all.empty()) {
    std::cout << "no operator of the catalogue replaces a pair of them\n";
    return;
  }
  TextTable table({"chain", "replace by", ">times", ">saved, model", ">saved, measured"});
  for (const auto& [what, a] : all)
    table.add({printable(what.first, 200), what.second, std::to_string(a.times), duration(a.model),
               duration(a.measured)});
  table.print(std::cout);
}

}  // namespace

void add_advise(CLI::App& app, Context&) {
  static AdviseFlags o;
  auto* command = app.add_subcommand("advise", "Which calls of a trace one operator would replace");
  add_input(*command, "trace", o.trace,
            "a file that --trace or kolmo.monitor.trace wrote; - for standard input")
      ->required()
      ->type_name("TRACE.json");
  command->add_flag("--json", o.json, "print JSON");
  command->footer(
      "A call and the one that alone reads its result are replaced. The model's saving is the result, no "
      "longer written and\n"
      "read, at the highest rate that a call on the device reached; the measured one is the time of the "
      "calls that go.");
  command->callback([] { advise(o); });
}

}  // namespace kolmo::cli
