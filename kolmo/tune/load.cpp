#include "kolmo/tune/load.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "kolmo/runtime/system_file.hpp"

namespace kolmo::tune {

Load machine_load() {
  Load load;
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end;
       task.increment(error)) {
    double ran = 0, waited = 0;  // nanoseconds
    if (SystemFile(task->path() / "schedstat") >> ran >> waited) load.stalled += waited * 1e-9;
  }
  SystemFile stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, io = 0, irq = 0, soft = 0, steal = 0;
  if (stat >> name >> user >> nice >> system >> idle >> io >> irq >> soft >> steal)
    load.stolen = steal / double(sysconf(_SC_CLK_TCK)) / double(sysconf(_SC_NPROCESSORS_ONLN));
  return load;
}

bool disturbed(const Load& before, const Load& after, double seconds) {
  return after.stalled - before.stalled > 0.05 * seconds || after.stolen > before.stolen;
}

}  // namespace kolmo::tune
