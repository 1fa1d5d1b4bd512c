#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "kolmo/flow/analysis/network_analysis.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "tests/flow/test_series.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

/// A file with the columns of a coupled system, and with dates, labels and a further series between them.
std::string file_with(const testing_io::TemporaryFolder& folder, bool further) {
  constexpr std::size_t rows = 120;
  const std::vector<double> a = testing_flow::normals(1, 0, rows), noise = testing_flow::normals(1, 1, rows),
                            c = testing_flow::normals(1, 2, rows);
  const std::string path = folder / (further ? "further.csv" : "plain.csv");
  std::ofstream out(path);
  out.precision(17);
  out << (further ? "date,c,label,b,other,a\n" : "a,b,c\n");
  for (std::size_t t = 0; t < rows; ++t) {
    const double b = noise[t] + (t ? 0.8 * a[t - 1] : 0);
    if (further)
      out << 1990 + t / 12 << (t % 12 < 9 ? "-0" : "-") << 1 + t % 12 << "-01," << c[t] << ",label " << t
          << ',' << b << ',' << t * t % 97 << ',' << a[t] << '\n';
    else
      out << a[t] << ',' << b << ',' << c[t] << '\n';
  }
  return path;
}

std::map<std::pair<std::string, std::string>, std::vector<double>> links(const std::string& path) {
  NetworkRequest request;
  request.columns.text = "a,b,c";
  request.max_lag = 2, request.surrogates = 50;
  Session session(read_table(path));
  NetworkAnalysis analysis(settled(request), session);
  Stream stream(Device{}, 1);
  std::map<std::pair<std::string, std::string>, std::vector<double>> all;
  for (const LinkResult& l : analysis.infer(stream, nullptr).links) {
    const auto& names = analysis.series().names;
    std::vector<double>& of = all[{names[std::size_t(l.source)], names[std::size_t(l.target)]}];
    of = {l.value, double(l.lag), l.p_value, l.surrogates.mean, l.surrogates.q95};
    of.insert(of.end(), l.profile.begin(), l.profile.end());
  }
  return all;
}

TEST(NetworkAnalysis, FurtherColumnsAndTheirOrderChangeNothing) {
  const testing_io::TemporaryFolder folder;
  EXPECT_EQ(links(file_with(folder, false)), links(file_with(folder, true)));
}

TEST(NetworkAnalysis, ReproducesEachLinkByACommand) {
  const testing_io::TemporaryFolder folder;
  NetworkRequest request;
  request.columns.text = "a,b,c", request.max_lag = 3, request.surrogates = 20;
  request.estimator.theiler = 2, request.estimator.seed = 7;
  Session session(read_table(file_with(folder, false)), {{"na", "-9"}});
  NetworkAnalysis analysis(settled(request), session);
  LinkResult link;
  link.source = 2, link.target = 1, link.min_shift = 4;
  EXPECT_EQ(te_command(analysis.request(), session, analysis.series(), analysis.options(), link, {2, 1}),
            "kolmo te " + session.table.file +
                " --source 2 --target 1 --max-lag 3 --history 2 --tau 1 --theiler 2 --seed 7 --surrogates 20 "
                "--min-shift 4 --na -9");
}

TEST(NetworkAnalysis, NamesWhatCannotBeInferred) {
  const testing_io::TemporaryFolder folder;
  NetworkRequest request;
  request.columns.text = "a,b", request.given.text = "b:2";
  Session session(read_table(file_with(folder, false)));
  try {
    NetworkAnalysis(settled(request), session);
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "--given: 'b' is also a source or target");
  }
}

}  // namespace
}  // namespace kolmo
