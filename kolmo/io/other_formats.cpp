#include "kolmo/io/other_formats.hpp"

#include <algorithm>
#include <utility>

#include "kolmo/base/error.hpp"

namespace kolmo {
namespace {

/// In a line, {} stands for the file and {o} for what it is called without its ending. Python names the arrays of a file.
struct OtherFormat {
  const char *what, *line;
};

constexpr OtherFormat hdf5{
    "an HDF5 file (also .mat of MATLAB 7.3, and netCDF-4)",
    "python3 -c \"import h5py, numpy as np; np.save('{o}.npy', h5py.File('{}')['NAME'])\""},
    matlab{"a MATLAB file",
           "python3 -c \"import scipy.io, numpy as np; np.save('{o}.npy', scipy.io.loadmat('{}')['NAME'])\""},
    netcdf{"a netCDF file",
           "python3 -c \"import xarray as xr; xr.open_dataset('{}').to_dataframe().to_csv('{o}.csv')\""},
    parquet{"a Parquet file",
            "python3 -c \"import pandas as pd; pd.read_parquet('{}').to_csv('{o}.csv', index=False)\""},
    feather{"an Arrow or Feather file",
            "python3 -c \"import pandas as pd; pd.read_feather('{}').to_csv('{o}.csv', index=False)\""},
    edf{"an EDF recording",
        "python3 -c \"import mne, numpy as np; np.save('{o}.npy', mne.io.read_raw_edf('{}').get_data().T)\""},
    bdf{"a BDF recording",
        "python3 -c \"import mne, numpy as np; np.save('{o}.npy', mne.io.read_raw_bdf('{}').get_data().T)\""},
    fif{"a FIF recording",
        "python3 -c \"import mne, numpy as np; np.save('{o}.npy', mne.io.read_raw_fif('{}').get_data().T)\""},
    wave{"a WAV recording",
         "python3 -c \"import scipy.io.wavfile as w, numpy as np; np.save('{o}.npy', w.read('{}')[1])\""},
    excel{"an Excel file",
          "python3 -c \"import pandas as pd; pd.read_excel('{}').to_csv('{o}.csv', index=False)\""},
    calc{"an OpenDocument table",
         "python3 -c \"import pandas as pd; pd.read_excel('{}', engine='odf').to_csv('{o}.csv', "
         "index=False)\""},
    npz{"an NPZ archive of NumPy arrays",
        "python3 -c \"import numpy as np; np.save('{o}.npy', np.load('{}')['NAME'])\""},
    pickle{"a pickle of Python, which runs code when it is read",
           "pandas.read_pickle('{}').to_csv('{o}.csv', index=False)"},
    stata{"a Stata file",
          "python3 -c \"import pandas as pd; pd.read_stata('{}').to_csv('{o}.csv', index=False)\""},
    spss{"an SPSS file",
         "python3 -c \"import pandas as pd; pd.read_spss('{}').to_csv('{o}.csv', index=False)\""},
    zip{"a zip archive", "unzip '{}'"},
    gzip{"a gzip archive within another", "gunzip -c '{}' > '{o}.csv.gz'"},
    bzip2{"a bzip2 archive", "bunzip2 -k '{}'"}, xz{"an xz archive", "unxz -k '{}'"},
    zstd{"a zstd archive", "unzstd '{}'"},
    utf16{"UTF-16 text, not UTF-8", "iconv -f UTF-16 -t UTF-8 '{}' > '{o}_utf8.csv'"};

struct Magic {
  std::string_view bytes;
  const OtherFormat& format;
};
constexpr std::string_view hdf5_magic = "\x89HDF\r\n\x1a\n";
constexpr Magic magics[] = {{hdf5_magic, hdf5},
                            {"MATLAB 5.0 MAT-file", matlab},
                            {"CDF\1", netcdf},
                            {"CDF\2", netcdf},
                            {"CDF\5", netcdf},
                            {"PAR1", parquet},
                            {"ARROW1", feather},
                            {"FEA1", feather},
                            {"\xFF"
                             "BIOSEMI",
                             bdf},
                            {"RIFF", wave},
                            {"\xD0\xCF\x11\xE0", excel},
                            {"\x80\2", pickle},
                            {"\x80\3", pickle},
                            {"\x80\4", pickle},
                            {"\x80\5", pickle},
                            {"<stata_dta>", stata},
                            {"$FL2", spss},
                            {"\x1f\x8b", gzip},
                            {"BZh", bzip2},
                            {"\xFD"
                             "7zXZ",
                             xz},
                            {"\x28\xB5\x2F\xFD", zstd},
                            {"\xFF\xFE", utf16},
                            {"\xFE\xFF", utf16}};

struct Ending {
  std::string_view text;
  const OtherFormat& format;
};
constexpr Ending endings[] = {
    {".mat", matlab},      {".h5", hdf5},    {".hdf5", hdf5}, {".nc", netcdf}, {".parquet", parquet},
    {".feather", feather}, {".edf", edf},    {".bdf", bdf},   {".fif", fif},   {".wav", wave},
    {".xls", excel},       {".xlsx", excel}, {".ods", calc},  {".npz", npz},   {".pkl", pickle},
    {".pickle", pickle},   {".dta", stata},  {".sav", spss}};

/// By the name of the first file in a zip archive.
const OtherFormat& in_zip(std::string_view start) {
  constexpr std::size_t length_at = 26, name_at = 30;
  const auto byte = [&](std::size_t i) {
    return i < start.size() ? std::size_t(static_cast<unsigned char>(start[i])) : 0;
  };
  const std::string_view name =
      start.size() > name_at ? start.substr(name_at, byte(length_at) | byte(length_at + 1) << 8) : "";
  if (name.ends_with(".npy")) return npz;
  if (name == "[Content_Types].xml" || name.starts_with("_rels/") || name.starts_with("xl/")) return excel;
  return name == "mimetype" ? calc : zip;
}

/// "0", blanks, and at byte 168 the date and the time of the recording: no table begins like this.
bool is_edf(std::string_view start) {
  constexpr std::string_view form = "99.99.9999.99.99";
  constexpr std::size_t at = 168;
  if (!start.starts_with("0       ") || start.size() < at + form.size()) return false;
  return std::equal(form.begin(), form.end(), start.begin() + at,
                    [](char wanted, char c) { return wanted == '9' ? c >= '0' && c <= '9' : c == wanted; });
}

std::string line_of(const OtherFormat& format, const std::string& name) {
  const bool plain = name.find_first_not_of(
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-") == name.npos;
  const std::string file = plain ? name : "FILE", stem = file.substr(0, file.find_last_of("./") + 1);
  std::string line = format.line;
  const std::string out = stem.ends_with('.') && stem.size() > 1 ? stem.substr(0, stem.size() - 1) : file;
  for (const auto& [mark, text] : {std::pair<std::string, const std::string&>{"{}", file}, {"{o}", out}})
    for (std::size_t at = 0; (at = line.find(mark, at)) != line.npos; at += text.size())
      line.replace(at, mark.size(), text);
  return line;
}

std::string sentence(const OtherFormat& format, const std::string& name) {
  return std::string("is ") + format.what + "; Kolmo reads CSV, TSV and NPY: " + line_of(format, name);
}

}  // namespace

void refuse_other_formats(std::string_view start, const std::string& name) {
  const auto refuse = [&](const OtherFormat& f) { fail<InvalidArgument>(name + ": " + sentence(f, name)); };
  for (const Magic& m : magics)
    if (start.starts_with(m.bytes)) refuse(m.format);
  if (start.starts_with("PK\3\4")) refuse(in_zip(start));
  if (is_edf(start)) refuse(edf);
  if (start.size() >= format_bytes && start.substr(512).starts_with(hdf5_magic)) refuse(hdf5);
}

std::string other_format_by_name(const std::string& name) {
  for (const Ending& e : endings)
    if (name.ends_with(e.text)) return sentence(e.format, name);
  return "";
}

}  // namespace kolmo
