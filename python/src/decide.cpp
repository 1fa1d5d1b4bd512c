#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "kolmo/predict/decide/alarm.hpp"
#include "kolmo/predict/decide/outlook.hpp"
#include "python/src/module.hpp"

namespace kolmo::python {
namespace {

using namespace predict;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

}  // namespace

void add_decide(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Outlook>(module, "Outlook", "What a forecast says of any step to come.")
      .def(
          "__init__",
          [](Outlook* self, const Values& ahead, const Rows& quantiles, const std::string& driver) {
            new (self) Outlook({ahead.data(), ahead.data() + ahead.size()},
                               {quantiles.data(), quantiles.data() + quantiles.size()}, driver);
          },
          "ahead"_a, "quantiles"_a, "driver"_a)
      .def_prop_ro("driver", &Outlook::driver)
      .def("at", &Outlook::at, "ahead"_a, "The quantiles so many steps from now.")
      .def("median", &Outlook::median, "ahead"_a)
      .def("quantile", &Outlook::quantile, "level"_a, "ahead"_a)
      .def("probability_below", &Outlook::probability_below, "loss"_a, "ahead"_a,
           "The probability that the loss is below ``loss`` then; beyond the outer quantiles half of what "
           "lies "
           "there.")
      .def("reaches", &Outlook::reaches, "loss"_a,
           "In how many steps the median is first at or below ``loss``; infinite if it is not within the "
           "forecast.");
  module.def(
      "alarm_of",
      [](const Values& losses) {
        return alarm_of({losses.data(), losses.size()});
      },
      "losses"_a, "Why the mean losses of the blocks so far are alarming, or nothing.");
}

}  // namespace kolmo::python
