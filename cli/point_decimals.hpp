#pragma once
#include <clocale>

namespace kolmo::cli {

/// As long as it lives, this thread reads and writes numbers with a decimal point whatever locale the process has set: CLI11
/// reads options by strtold.
class PointDecimals {
 public:
  PointDecimals()
      : own_(::newlocale(LC_NUMERIC_MASK, "C", ::duplocale(::uselocale(nullptr)))),
        before_(::uselocale(own_)) {}
  PointDecimals(const PointDecimals&) = delete;
  PointDecimals& operator=(const PointDecimals&) = delete;
  ~PointDecimals() {
    ::uselocale(before_);
    if (own_) ::freelocale(own_);
  }

 private:
  ::locale_t own_, before_;
};

}  // namespace kolmo::cli
