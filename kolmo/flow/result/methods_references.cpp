#include <fmt/format.h>

#include "kolmo/flow/result/methods_greedy.hpp"
#include "kolmo/flow/test/statistics.hpp"

namespace kolmo {
namespace {

constexpr Reference schreiber{
    "schreiber2000",
    "T. Schreiber, Measuring information transfer, Phys. Rev. Lett. 85, 461 (2000), "
    "doi:10.1103/PhysRevLett.85.461",
    "@article{schreiber2000,\n  author = {Schreiber, Thomas},\n  title = {Measuring Information Transfer},\n"
    "  journal = {Physical Review Letters},\n  volume = {85},\n  pages = {461--464},\n  year = {2000},\n"
    "  doi = {10.1103/PhysRevLett.85.461}\n}\n"};
constexpr Reference kraskov{
    "kraskov2004",
    "A. Kraskov, H. St\u00f6gbauer, P. Grassberger, Estimating mutual information, Phys. Rev. E 69, 066138 "
    "(2004), doi:10.1103/PhysRevE.69.066138",
    "@article{kraskov2004,\n  author = {Kraskov, Alexander and St{\\\"o}gbauer, Harald and Grassberger, "
    "Peter},\n"
    "  title = {Estimating mutual information},\n  journal = {Physical Review E},\n  volume = {69},\n"
    "  pages = {066138},\n  year = {2004},\n  doi = {10.1103/PhysRevE.69.066138}\n}\n"};
constexpr Reference frenzel{
    "frenzel2007",
    "S. Frenzel, B. Pompe, Partial mutual information for coupling analysis of multivariate time series, "
    "Phys. Rev. Lett. 99, 204101 (2007), doi:10.1103/PhysRevLett.99.204101",
    "@article{frenzel2007,\n  author = {Frenzel, Stefan and Pompe, Bernd},\n"
    "  title = {Partial Mutual Information for Coupling Analysis of Multivariate Time Series},\n"
    "  journal = {Physical Review Letters},\n  volume = {99},\n  pages = {204101},\n  year = {2007},\n"
    "  doi = {10.1103/PhysRevLett.99.204101}\n}\n"};
constexpr Reference lizier{
    "lizier2012",
    "J. T. Lizier, M. Prokopenko, A. Y. Zomaya, Local measures of information storage in complex distributed "
    "computation, Inf. Sci. 208, 39 (2012), doi:10.1016/j.ins.2012.04.016",
    "@article{lizier2012,\n  author = {Lizier, Joseph T. and Prokopenko, Mikhail and Zomaya, Albert Y.},\n"
    "  title = {Local measures of information storage in complex distributed computation},\n"
    "  journal = {Information Sciences},\n  volume = {208},\n  pages = {39--54},\n  year = {2012},\n"
    "  doi = {10.1016/j.ins.2012.04.016}\n}\n"};
constexpr Reference complete{
    "lizier2008",
    "J. T. Lizier, M. Prokopenko, A. Y. Zomaya, Local information transfer as a spatiotemporal filter for "
    "complex systems, Phys. Rev. E 77, 026110 (2008), doi:10.1103/PhysRevE.77.026110",
    "@article{lizier2008,\n  author = {Lizier, Joseph T. and Prokopenko, Mikhail and Zomaya, Albert Y.},\n"
    "  title = {Local information transfer as a spatiotemporal filter for complex systems},\n"
    "  journal = {Physical Review E},\n  volume = {77},\n  pages = {026110},\n  year = {2008},\n"
    "  doi = {10.1103/PhysRevE.77.026110}\n}\n"};
constexpr Reference ragwitz{
    "ragwitz2002",
    "M. Ragwitz, H. Kantz, Markov models from data by simple nonlinear time series predictors in delay "
    "embedding spaces, Phys. Rev. E 65, 056201 (2002), doi:10.1103/PhysRevE.65.056201",
    "@article{ragwitz2002,\n  author = {Ragwitz, Mario and Kantz, Holger},\n"
    "  title = {Markov models from data by simple nonlinear time series predictors in delay embedding "
    "spaces},\n"
    "  journal = {Physical Review E},\n  volume = {65},\n  pages = {056201},\n  year = {2002},\n"
    "  doi = {10.1103/PhysRevE.65.056201}\n}\n"};
constexpr Reference theiler_window{
    "theiler1986",
    "J. Theiler, Spurious dimension from correlation algorithms applied to limited time-series data, Phys. "
    "Rev. A 34, 2427 (1986), doi:10.1103/PhysRevA.34.2427",
    "@article{theiler1986,\n  author = {Theiler, James},\n"
    "  title = {Spurious dimension from correlation algorithms applied to limited time-series data},\n"
    "  journal = {Physical Review A},\n  volume = {34},\n  pages = {2427--2432},\n  year = {1986},\n"
    "  doi = {10.1103/PhysRevA.34.2427}\n}\n"};
constexpr Reference theiler{
    "theiler1992",
    "J. Theiler, S. Eubank, A. Longtin, B. Galdrikian, J. D. Farmer, Testing for nonlinearity in time "
    "series: "
    "the method of surrogate data, Physica D 58, 77 (1992), doi:10.1016/0167-2789(92)90102-S",
    "@article{theiler1992,\n  author = {Theiler, James and Eubank, Stephen and Longtin, Andr{\\'e} and "
    "Galdrikian, Bryan and Farmer, J. Doyne},\n"
    "  title = {Testing for nonlinearity in time series: the method of surrogate data},\n"
    "  journal = {Physica D},\n  volume = {58},\n  pages = {77--94},\n  year = {1992},\n"
    "  doi = {10.1016/0167-2789(92)90102-S}\n}\n"};
constexpr Reference quian{
    "quianquiroga2002",
    "R. Quian Quiroga, A. Kraskov, T. Kreuz, P. Grassberger, Performance of different synchronization "
    "measures in real data: a case study on electroencephalographic signals, Phys. Rev. E 65, 041903 (2002), "
    "doi:10.1103/PhysRevE.65.041903",
    "@article{quianquiroga2002,\n  author = {Quian Quiroga, R. and Kraskov, A. and Kreuz, T. and "
    "Grassberger, "
    "P.},\n  title = {Performance of different synchronization measures in real data: A case study on "
    "electroencephalographic signals},\n  journal = {Physical Review E},\n  volume = {65},\n"
    "  pages = {041903},\n  year = {2002},\n  doi = {10.1103/PhysRevE.65.041903}\n}\n"};
constexpr Reference schmitz{
    "schreiber1996",
    "T. Schreiber, A. Schmitz, Improved surrogate data for nonlinearity tests, Phys. Rev. Lett. 77, 635 "
    "(1996), "
    "doi:10.1103/PhysRevLett.77.635",
    "@article{schreiber1996,\n  author = {Schreiber, Thomas and Schmitz, Andreas},\n"
    "  title = {Improved Surrogate Data for Nonlinearity Tests},\n  journal = {Physical Review Letters},\n"
    "  volume = {77},\n  pages = {635--638},\n  year = {1996},\n  doi = {10.1103/PhysRevLett.77.635}\n}\n"};
constexpr Reference benjamini{
    "benjamini1995",
    "Y. Benjamini, Y. Hochberg, Controlling the false discovery rate: a practical and powerful approach to "
    "multiple testing, J. R. Stat. Soc. B 57, 289 (1995), doi:10.1111/j.2517-6161.1995.tb02031.x",
    "@article{benjamini1995,\n  author = {Benjamini, Yoav and Hochberg, Yosef},\n"
    "  title = {Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple "
    "Testing},\n"
    "  journal = {Journal of the Royal Statistical Society: Series B},\n  volume = {57},\n"
    "  pages = {289--300},\n  year = {1995},\n  doi = {10.1111/j.2517-6161.1995.tb02031.x}\n}\n"};

}  // namespace

std::vector<Reference> references(const NetworkDocument& network) {
  const NetworkRequest& r = network.request;
  const GreedyMeasure measure = r.greedy.measure;
  std::vector<Reference> found;
  if (measure == GreedyMeasure::te) found.push_back(schreiber);
  if (measure == GreedyMeasure::ais) found.push_back(lizier);
  if (r.conditional_all) found.push_back(complete);
  const bool ksg = r.estimator.estimator == Estimator::ksg;
  if (ksg) found.insert(found.end(), {kraskov, frenzel});
  if (r.embedding == EmbeddingRule::ais) found.push_back(lizier);
  if (r.embedding == EmbeddingRule::ragwitz) found.push_back(ragwitz);
  if (ksg && r.estimator.theiler > 0) found.push_back(theiler_window);
  if (network.greedy())
    for (const Reference& reference : greedy_references(network)) found.push_back(reference);
  if (!network.tested()) return found;
  if (network.compared()) {
    found.push_back(theiler);
    for (const Reference& reference : {quian, schmitz})
      if (reference.key == kind_of(r.estimator.surrogate_type).reference) found.push_back(reference);
    if (network.sequential()) found.push_back(besag);
  }
  const bool hochberg = !network.idtxl();
  if (r.correction == Correction::bh && hochberg) found.push_back(benjamini);
  return found;
}

std::string bibtex(const NetworkDocument& network) {
  std::string out;
  for (const Reference& reference : references(network)) out += std::string(reference.bibtex) + "\n";
  return out + fmt::format("@misc{{kolmo,\n  title = {{Kolmo}},\n  note = {{Version {}}}{}\n}}\n",
                           network.version,
                           network.date.size() < 4 ? "" : ",\n  year = {" + network.date.substr(0, 4) + "}");
}

}  // namespace kolmo
