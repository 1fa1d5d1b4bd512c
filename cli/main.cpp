#include <cstdlib>

#include "kolmo/command.hpp"

int main(int argc, char** argv) {
  ::setenv("OPENBLAS_NUM_THREADS", "1",
           0);  // its own threads, which Kolmo does not use, take memory at its start
  return kolmo::command(argc, argv);
}
