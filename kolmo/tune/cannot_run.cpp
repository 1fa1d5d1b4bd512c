#include "kolmo/tune/cannot_run.hpp"

#include <new>

#include "kolmo/base/error.hpp"

namespace kolmo::tune {

std::string why_it_cannot_run(FunctionRef<void()> work) {
  try {
    work();
    return "";
  } catch (const InvalidArgument& e) {
    return e.what();
  } catch (const Unsupported& e) {
    return e.what();
  } catch (const OutOfMemory& e) {
    return e.what();
  } catch (const std::bad_alloc&) {
    return "no host memory";
  }
}

}  // namespace kolmo::tune
