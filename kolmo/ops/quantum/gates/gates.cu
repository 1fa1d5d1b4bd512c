#include "kolmo/ops/quantum/gates/gate_items.hpp"
#include "kolmo/skeleton/each_item.cuh"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {

constexpr Row<NoConfig> hadamard_rows[] = {{"block 256"}};

void launch_hadamard(const GateArgs& a, Arena, Stream& s, int) {
  visit_parts(a, [&]<class T> { hadamard_groups<T>(a, cuda::ItemSteps{s}); });
}

}  // namespace

extern constinit const Impl<GateArgs> hadamard_cuda{{.rows = hadamard_rows, .launch = launch_hadamard}};
extern constinit const Impl<GateArgs> pauli_x_cuda = cuda::each_item<GateItems<GateArgs, PauliXPair>>();
extern constinit const Impl<PhaseGateArgs> phase_gate_cuda =
    cuda::each_item<GateItems<PhaseGateArgs, PhaseFactor>>();
extern constinit const Impl<CnotArgs> cnot_cuda = cuda::each_item<GateItems<CnotArgs, CnotPair>>();

}  // namespace kolmo
