#include "kolmo/flow/analysis/catalogue.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kolmo/flow/option/describe.hpp"
#include "kolmo/flow/request/settle.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

template <class R>
inline constexpr auto fields_of = R::fields();

template <class R>
AnalysisInfo info(AnalysisInfo i) {
  i.options = fields_of<R>;
  i.make = +[]() -> std::shared_ptr<void> { return std::make_shared<R>(); };
  i.settle = +[](void* request) -> const AnalysisRequest& {
    R& r = *static_cast<R*>(request);
    return r = settled(std::move(r));
  };
  if constexpr (!std::is_same_v<R, NetworkRequest>)
    i.run = +[](const void* request, Session& session, const Streams& streams) {
      return analyse(*static_cast<const R*>(request), session, streams);
    };
  return i;
}

}  // namespace

std::span<const AnalysisInfo> all_analyses() {
  static const AnalysisInfo all[] = {
      info<EntropyRequest>({.name = "entropy",
                            .function = "entropy",
                            .summary = "Differential entropy of one or several columns",
                            .about = "H = psi(N) - psi(k) + d <ln eps>, eps twice the distance to the k-th "
                                     "neighbour in the maximum "
                                     "norm,\nof the data in its own units, however it was standardised.",
                            .example = "kolmo entropy data.csv --x 0,1 --units bits",
                            .source = "Kozachenko, Leonenko, Probl. Inf. Transm. 23, 95 (1987)"}),
      info<MutualInformationRequest>(
          {.name = "mi",
           .function = "mutual_information",
           .summary = "Mutual information I(x;y), or I(x;y|given), of columns at the same time",
           .about = "psi(k) + psi(N) - <psi(n_x + 1) + psi(n_y + 1)>, where n_x and n_y count the rows "
                    "nearer than "
                    "the k-th\nneighbour of the joint space in the maximum norm; with given\n"
                    "psi(k) - <psi(n_xz + 1) + psi(n_yz + 1) - psi(n_z + 1)>.",
           .example = "kolmo mi data.csv --x 0 --y 1,2 --given 3 --surrogates 200",
           .source =
               "Kraskov, St\u00f6gbauer, Grassberger, Phys. Rev. E 69, 066138 (2004); Frenzel, Pompe, Phys. "
               "Rev. Lett. 99, 204101 (2007)"}),
      info<TransferEntropyRequest>(
          {.name = "te",
           .function = "transfer_entropy",
           .summary = "Transfer entropy from a source to a target",
           .about = "I(source past; target next | target past, given).",
           .example = "kolmo te data.csv --source 0 --target 1 --target-history 2 --surrogates 200",
           .source = "Schreiber, Phys. Rev. Lett. 85, 461 (2000)"}),
      info<StorageRequest>(
          {.name = "ais",
           .function = "active_information_storage",
           .summary = "Active information storage: what a series' past says about its next value",
           .about = "I(past; next).",
           .example = "kolmo ais data.csv --x 0 --history 2",
           .source = "Lizier, Prokopenko, Zomaya, Inf. Sci. 208, 39 (2012)"}),
      info<NetworkRequest>(
          {.name = "network",
           .function = "TransferEntropyNetwork",
           .summary = "Who drives whom: transfer entropy between all pairs of columns",
           .about =
               "A link's p-value compares its largest transfer entropy over the lags with the same of every "
               "surrogate.\nWith --method multivariate a link tells what its source adds to other sources "
               "that were chosen.\nFinished work is kept beside the output: after Ctrl-C the same command "
               "goes on.",
           .example =
               "kolmo network data.csv --columns 1,2,3 --max-lag 4 --out network.json --report network.html",
           .source =
               "Schreiber, Phys. Rev. Lett. 85, 461 (2000); Kraskov et al., Phys. Rev. E 69, 066138 (2004); "
               "Frenzel, Pompe, Phys. Rev. Lett. 99, 204101 (2007); Novelli et al., Netw. Neurosci. 3, 827 "
               "(2019)"})};
  return all;
}

const AnalysisInfo& find_analysis(std::string_view name) {
  const auto all = all_analyses();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const AnalysisInfo& a) { return a.name == name; });
  if (found == all.end()) fail<InvalidArgument>("there is no analysis '" + std::string(name) + "'");
  return *found;
}

Json describe(const AnalysisInfo& a) { return describe(texts_of(a), a.options, a.make().get()); }

}  // namespace kolmo
