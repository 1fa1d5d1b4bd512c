#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/advise_trace.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/table.hpp"
#include "kolmo/base/number_text.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::cli {
namespace {
using Json = nlohmann::ordered_json;

using Call = TracedCall;

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

/// Whether the second call adds a row to each of the result, of the dtype that the factors of the first have.
bool adds_bias(const Call& first, const Call& second, const Call::Operand& result) {
  const Call::Operand *const x = second.operand("x"), *const bias = second.operand("bias");
  return second.name == "broadcast_add" && x && bias && second.reader_of(result) == x &&
         x->same_form(result) && bias->dtype == first.operands[0].dtype;
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
  if ((first.name == "matmul" || first.name == "linear") && adds_bias(first, second, result) &&
      !first.operand("bias") && first.option("activation") == "none") {
    first.operands.push_back(*second.operand("bias"));
    return first.name + " with bias";
  }
  if (first.name == "elementwise_exp" && second.name == "normalize" && second.option("norm") == "sum")
    return "fused_exp_normalize";
  if (is_elementwise(first.name) && is_elementwise(second.name)) return "one elementwise kernel of your own";
  return {};
}

/// Whether three calls are y = softmax(scale q k^T) v of tensors of one dtype, where k and v have one shape and y has that of q.
bool is_attention(const Call& scores, const Call& weights, const Call& mean) {
  const auto plain = [](const Call& product) {
    return product.name == "matmul" && !product.operand("c") && !product.operand("bias") &&
           product.option("activation") == "none" && product.option("transpose_a") == "false";
  };
  if (!plain(scores) || !plain(mean) || weights.name != "softmax") return false;
  const Call::Operand *const q = scores.operand("a"), *const k = scores.operand("b"),
                             *const v = mean.operand("b"), *const y = mean.operand("y"),
                             *const product = scores.operand("y"), *const x = weights.operand("x"),
                             *const p = weights.operand("y"), *const a = mean.operand("a");
  if (!q || !k || !v || !y || !product || !x || !p || !a || a != mean.reader_of(*p)) return false;
  constexpr std::uint64_t most = 256;  // the longest head that attention takes
  return scores.option("transpose_b") == "true" && mean.option("transpose_b") == "false" &&
         number_in(scores.option("alpha")).value_or(0) > 0 && mean.option("alpha") == "1" &&
         x->same_form(*product) && a->same_form(*p) && y->same_form(*q) && v->same_form(*k) &&
         q->dtype == k->dtype && q->dtype == p->dtype && !q->shape.empty() && q->shape.back() <= most;
}

struct Advice {
  int times = 0;
  double model = 0, measured = 0;
};

/// Returns the time that could be saved, by the chain of operators and by what replaces it.
std::map<std::pair<std::string, std::string>, Advice> advice_of(const std::vector<Call>& calls) {
  std::map<std::string, double> rate;  // bytes a second, the most that a call on the device reached
  for (const Call& c : calls)
    if (c.seconds > 0) rate[c.device] = std::max(rate[c.device], c.bytes / c.seconds);
  const std::vector<std::ptrdiff_t> only = only_readers(calls);
  std::map<std::pair<std::string, std::string>, Advice> all;
  const auto follows = [&](std::size_t next) {  // whether it alone reads the result of the call before it
    if (next >= calls.size() || calls[next].track != calls[next - 1].track) return false;
    const Call::Operand* const result = calls[next - 1].output();
    return result && calls[next].reader_of(*result) && only[next - 1] == std::ptrdiff_t(next);
  };
  const auto saved = [&](std::size_t next) {
    const double most = rate[calls[next].device];
    return most > 0 ? 2 * double(calls[next - 1].output()->bytes) / most : 0;
  };
  for (std::size_t i = 0; i < calls.size();) {
    if (follows(i + 1) && follows(i + 2) && is_attention(calls[i], calls[i + 1], calls[i + 2])) {
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
  const auto calls = read_trace(read_file(o.trace, most), label);
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
