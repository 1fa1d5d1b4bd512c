#include "kolmo/flow/result/methods_greedy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kolmo/flow/result/storage_table.hpp"
#include "kolmo/knn/surrogate.hpp"

namespace kolmo {
namespace {

constexpr Reference lizier_rubinov{
    "lizier2012multivariate",
    "J. T. Lizier, M. Rubinov, Multivariate construction of effective computational networks from "
    "observational "
    "data, Preprint 25/2012, Max Planck Institute for Mathematics in the Sciences (2012)",
    "@techreport{lizier2012multivariate,\n  author = {Lizier, Joseph T. and Rubinov, Mikail},\n"
    "  title = {Multivariate construction of effective computational networks from observational data},\n"
    "  institution = {Max Planck Institute for Mathematics in the Sciences},\n  number = {25/2012},\n"
    "  year = {2012}\n}\n"};
constexpr Reference faes{
    "faes2011",
    "L. Faes, G. Nollo, A. Porta, Information-based detection of nonlinear Granger causality in multivariate "
    "processes via a nonuniform embedding technique, Phys. Rev. E 83, 051112 (2011), "
    "doi:10.1103/PhysRevE.83.051112",
    "@article{faes2011,\n  author = {Faes, Luca and Nollo, Giandomenico and Porta, Alberto},\n"
    "  title = {Information-based detection of nonlinear {Granger} causality in multivariate processes via a "
    "nonuniform embedding technique},\n  journal = {Physical Review E},\n  volume = {83},\n  pages = "
    "{051112},\n"
    "  year = {2011},\n  doi = {10.1103/PhysRevE.83.051112}\n}\n"};
constexpr Reference novelli{
    "novelli2019",
    "L. Novelli, P. Wollstadt, P. Mediano, M. Wibral, J. T. Lizier, Large-scale directed network inference "
    "with "
    "multivariate transfer entropy and hierarchical statistical testing, Netw. Neurosci. 3, 827 (2019), "
    "doi:10.1162/netn_a_00092",
    "@article{novelli2019,\n  author = {Novelli, Leonardo and Wollstadt, Patricia and Mediano, Pedro and "
    "Wibral, "
    "Michael and Lizier, Joseph T.},\n  title = {Large-scale directed network inference with multivariate "
    "transfer entropy and hierarchical statistical testing},\n  journal = {Network Neuroscience},\n"
    "  volume = {3},\n  pages = {827--847},\n  year = {2019},\n  doi = {10.1162/netn_a_00092}\n}\n"};
constexpr Reference westfall{
    "westfall1993", "P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing, Wiley (1993)",
    "@book{westfall1993,\n  author = {Westfall, Peter H. and Young, S. Stanley},\n"
    "  title = {Resampling-Based Multiple Testing},\n  publisher = {Wiley},\n  year = {1993}\n}\n"};
constexpr Reference holm{
    "holm1979",
    "S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6, 65 (1979)",
    "@article{holm1979,\n  author = {Holm, Sture},\n"
    "  title = {A Simple Sequentially Rejective Multiple Test Procedure},\n"
    "  journal = {Scandinavian Journal of Statistics},\n  volume = {6},\n  pages = {65--70},\n  year = "
    "{1979}\n}\n"};
constexpr Reference bogomolov{"benjamini2014",
                              "Y. Benjamini, M. Bogomolov, Selective inference on multiple families of "
                              "hypotheses, J. R. Stat. Soc. B 76, "
                              "297 (2014), doi:10.1111/rssb.12028",
                              "@article{benjamini2014,\n  author = {Benjamini, Yoav and Bogomolov, Marina},\n"
                              "  title = {Selective inference on multiple families of hypotheses},\n"
                              "  journal = {Journal of the Royal Statistical Society: Series B},\n  volume = "
                              "{76},\n  pages = {297--318},\n"
                              "  year = {2014},\n  doi = {10.1111/rssb.12028}\n}\n"};
constexpr Reference yekutieli{
    "benjamini2001",
    "Y. Benjamini, D. Yekutieli, The control of the false discovery rate in multiple testing under "
    "dependency, "
    "Ann. Stat. 29, 1165 (2001), doi:10.1214/aos/1013699998",
    "@article{benjamini2001,\n  author = {Benjamini, Yoav and Yekutieli, Daniel},\n"
    "  title = {The control of the false discovery rate in multiple testing under dependency},\n"
    "  journal = {The Annals of Statistics},\n  volume = {29},\n  pages = {1165--1188},\n  year = {2001},\n"
    "  doi = {10.1214/aos/1013699998}\n}\n"};

std::string candidates(const NetworkDocument& d) {
  const NetworkRequest& r = d.request;
  const GreedyOptions& g = r.greedy;
  const std::int64_t own = g.max_lag_target.value_or(r.max_lag), least = g.min_lag.value_or(1);
  std::string out;
  if (g.measure != GreedyMeasure::mi)
    out += fmt::format("from the target's own past, at lags of 1 to {} rows{}", own,
                       r.tau.value_or(1) > 1 ? fmt::format(" in steps of {}", *r.tau) : "");
  if (g.measure == GreedyMeasure::te) out += ", and then ";
  if (g.measure != GreedyMeasure::ais)
    out +=
        fmt::format("from {}, at lags of {} to {} rows{}",
                    r.method == NetworkMethod::bivariate ? "each source by itself" : "all sources together",
                    least, r.max_lag, r.source.tau > 1 ? fmt::format(" in steps of {}", r.source.tau) : "");
  return out;
}

/// The most surrogates that the data allow, if those are fewer than a test was to have; else 0.
long long fewest_shifts(const NetworkDocument& d) {
  const GreedyOptions& g = d.request.greedy;
  if (d.analytic() || d.request.estimator.surrogate_type != SurrogateMethod::circular) return 0;
  long long least = std::max(
      {*g.permutations_max_stat, *g.permutations_min_stat, *g.permutations_omnibus, *g.permutations_max_seq});
  const long long asked = least;
  std::vector<long long> samples(d.variables.size());  // that all estimates of a target have
  for (const NetworkTarget& t : d.targets) samples[t.target] = t.samples;
  for (const NetworkLink& l : d.links)
    least = std::min<long long>(least, different_shifts(samples[l.target], l.min_shift));
  return least < asked ? least : 0;
}

std::string tests(const NetworkDocument& d) {
  const GreedyOptions& g = d.request.greedy;
  const bool past = g.measure == GreedyMeasure::te;
  const std::string_view of = g.measure == GreedyMeasure::ais ? "" : " of sources",
                         together = past ? "together given the own past" : "together";
  if (d.analytic())
    return fmt::format(
        "A value joined if the smallest p of the F tests of all values that were left, corrected by Sidak, "
        "was "
        "significant at {}. Of several values{} the one that told least given the others was then removed "
        "as long as it was not significant at {}; all were tested {}, at {}, and each given "
        "all others, at {}, by Holm's procedure (1979). ",
        *g.alpha_max_stat, of, *g.alpha_min_stat, together, *g.alpha_omnibus, *g.alpha_max_seq);
  return fmt::format(
      "A value joined if the largest information over all values that were left was significant at {} "
      "against the "
      "same maximum in {} surrogates{}. Of several values{} the one that told least given the "
      "others was then "
      "removed as long as it was not significant at {} against the minimum in {} surrogates; all were tested "
      "{}, at {} in {} surrogates, and each given all others, at {} in {} surrogates, {}. ",
      *g.alpha_max_stat, *g.permutations_max_stat,
      d.idtxl() ? "" : ", of which fewer were drawn where the outcome was certain (Besag and Clifford 1991)",
      of, *g.alpha_min_stat, *g.permutations_min_stat, together, *g.alpha_omnibus, *g.permutations_omnibus,
      *g.alpha_max_seq, *g.permutations_max_seq,
      d.idtxl() ? "rank by rank as IDTxl does" : "by a step-down procedure (Westfall and Young 1993)");
}

std::string many_targets(const NetworkDocument& d) {
  const NetworkRequest& r = d.request;
  std::string out;
  if (r.correction == Correction::none) {
    out = "The p-values were not adjusted for the number of targets";
  } else if (d.idtxl()) {
    out = std::string("The p-values of the joint tests were adjusted over the targets by ") +
          (r.correction == Correction::bh ? "the procedure of Benjamini and Yekutieli (2001)"
                                          : "Bonferroni's method");
  } else {
    out = r.correction == Correction::bh
              ? "Targets with a source were told by the p-values of the value that was tested first, "
                "adjusted by the "
                "procedure of Benjamini and Hochberg (1995), and links of these targets at the level that is "
                "left for "
                "them (Benjamini and Bogomolov 2014)"
              : "The p-values of links were adjusted over the targets by Bonferroni's method";
  }
  return out +
         fmt::format(". Links that were chosen are significant at an adjusted p of {}; these are {} of {}. ",
                     r.alpha, d.significant_links().size(), d.links.size());
}

}  // namespace

std::string greedy_sentences(const NetworkDocument& d, const std::string& surrogates) {
  std::string out =
      "For each target, values in the past were chosen one after another by the information that each "
      "added about the target's next value (Faes et al. 2011; Lizier and Rubinov 2012; Novelli et al. "
      "2019): " +
      candidates(d) + ". " + tests(d);
  if (!d.analytic())
    out += fmt::format(
        "In a surrogate (Theiler et al. 1992) {}{}. ",
        d.only_storage() ? of_own_past(surrogates) : surrogates,
        d.idtxl() ? ", each value by itself" : "; all values that were left had the same surrogates");
  if (const long long shifts = fewest_shifts(d))
    out += fmt::format("The rows allow {} different shift{}, and no test had more. ", shifts,
                       shifts == 1 ? "" : "s");
  if (d.request.greedy.max_conditions < most_conditions)
    out += fmt::format("At most {} values were chosen. ", d.request.greedy.max_conditions);
  return d.links.empty() ? out : out + many_targets(d);
}

std::vector<Reference> greedy_references(const NetworkDocument& d) {
  std::vector<Reference> all{faes, lizier_rubinov, novelli};
  if (!d.idtxl() && d.analytic()) all.push_back(holm);
  if (!d.idtxl() && !d.analytic()) all.insert(all.end(), {besag, westfall});
  if (d.request.correction == Correction::bh) all.push_back(d.idtxl() ? yekutieli : bogomolov);
  return all;
}

}  // namespace kolmo
