#!/usr/bin/env python3
"""tools/check_layers.py reports each kind of wrong arrow and accepts the right ones."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from check_layers import faults  # noqa: E402

WRONG = {
    "kolmo/base/a.hpp": '#include "kolmo/runtime/stream.hpp"',
    "kolmo/runtime/a.cpp": '#include "kolmo/op/op.hpp"',
    "kolmo/op/a.cpp": '#include "kolmo/ops/nn/relu/relu.hpp"',
    "kolmo/op/b.hpp": "#include <cuda_runtime.h>",
    "kolmo/op/c.hpp": '#include "kolmo/device/grid.cuh"',
    "kolmo/op/impl.hpp": '#include "kolmo/op/op.hpp"',
    "kolmo/device/a.cuh": '#include "kolmo/op/impl.hpp"',
    "kolmo/skeleton/a.hpp": '#include "kolmo/op/define.hpp"',
    "kolmo/skeleton/b.hpp": '#include "kolmo/skeleton/a.cuh"',
    "kolmo/skeleton/a.cuh": '#include "kolmo/ops/nn/relu/relu.hpp"',
    "kolmo/ops/nn/silu/silu.cu": '#include "kolmo/op/define.hpp"',
    "kolmo/ops/nn/silu/silu.cuh": '#include "kolmo/runtime/stream.hpp"',
    "kolmo/knn/tree.cpp": '#include "kolmo/knn/ksg_oracle.hpp"',
    "kolmo/knn/ksg.cuh": '#include "kolmo/flow/data/series.hpp"',
    "kolmo/ops/nn/relu/relu.hpp": '#include "kolmo/flow/data/series.hpp"',
    "kolmo/ops/nn/relu/relu.cpp": '#include "kolmo/ops/nn/gelu/gelu_detail.hpp"',
    "kolmo/ops/nn/relu/relu.cu": "void f() { kernel<<<1, 2>>>(); }",
    "kolmo/ops/nn/gelu/gelu.cpp": "#ifdef KOLMO_CUDA\n#endif",
    "kolmo/ops/nn/gelu/gelu.hpp": "/// fill in: formula",
    "kolmo/ops/nn/gelu/gelu.cu": "#ifdef __CUDA_ARCH__\n#endif",
    "kolmo/device/b.cuh": "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n#endif",
    "kolmo/base/hd.hpp": "#pragma once",  # tools/gpu_code.txt says that it tests __CUDA_ARCH__
    "kolmo/ops/nn/a.hpp": '#include "kolmo/ops/nn/relu/relu_detail.hpp"',
    "kolmo/ops/dense/dot/dot.cpp": '#include "kolmo/ops/nn/a.hpp"',
    "kolmo/flow/infer/a.cpp": '#include "cli/table.hpp"',
    "kolmo/io/a.cpp": '#include "kolmo/flow/data/series.hpp"',
    "kolmo/flow/data/a.cpp": '#include "kolmo/flow/estimate/estimate.hpp"',
    "kolmo/flow/surrogate/a.cpp": '#include "kolmo/flow/simulate/simulate.hpp"',
    "kolmo/flow/test/a.cpp": '#include "kolmo/flow/infer/network.hpp"',
    "kolmo/check/a.cpp": '#include "kolmo/flow/data/series.hpp"',
    "kolmo/unheard_of/a.cpp": '#include "kolmo/base/error.hpp"',
    "simt/a.hpp": '#include "kolmo/base/error.hpp"',
    "cli/a.cpp": '#include "tests/a.hpp"',
    "tests/a_test.cpp": '#include "kolmo/op/run.cpp"',
}
RIGHT = {
    "kolmo/runtime/a.cpp": '#include "kolmo/base/error.hpp"',
    "kolmo/runtime/cuda/cuda_backend.cpp": "#include <cuda_runtime_api.h>",
    "kolmo/runtime/b.cpp": "#ifdef KOLMO_CUDA\n#endif",
    "kolmo/base/log.hpp": "#ifdef __CUDA_ARCH__\n#endif",
    "kolmo/base/a.hpp": "// without __CUDA_ARCH__",
    "kolmo/ops/nn/relu/relu.cu": '#include "kolmo/device/grid.cuh"\n#include "kolmo/runtime/cuda/launch.cuh"',
    "kolmo/ops/nn/silu/silu.cu": "".join(f'#include "kolmo/{header}"\n' for header in (
        "base/half.hpp", "op/impl.hpp", "op/inside.hpp", "ops/nn/relu/relu.hpp", "skeleton/elementwise.cuh",
        "knn/list_length.hpp")),
    "kolmo/skeleton/a.hpp": '#include "kolmo/op/impl.hpp"\n#include "kolmo/runtime/stream.hpp"',
    "kolmo/skeleton/a.cuh": '#include "kolmo/op/impl.hpp"\n#include "kolmo/device/grid.cuh"\n'
                            '#include "kolmo/runtime/cuda/launch.cuh"\n#include "kolmo/skeleton/a.hpp"',
    "kolmo/op/inside.hpp": '#include "kolmo/op/impl.hpp"\n#include "kolmo/op/op.hpp"',
    "kolmo/knn/ksg.cuh": '#include "kolmo/knn/psi_sum.hpp"\n#include "kolmo/device/grid.cuh"',
    "kolmo/ops/nn/a.hpp": '#include "kolmo/ops/nn/relu/relu.hpp"\n#include "kolmo/skeleton/a.hpp"',
    "kolmo/ops/nn/relu/relu_detail.hpp": '#include "kolmo/ops/nn/a.hpp"',
    "kolmo/knn/ksg_oracle.cpp": '#include "kolmo/check/oracle.hpp"',
    "kolmo/ops/nn/relu/relu.cpp": '#include "kolmo/ops/nn/gelu/gelu.hpp"',
    "kolmo/ops/nn/relu/relu_oracle.cpp": '#include "kolmo/check/oracle.hpp"',
    "kolmo/flow/infer/a.cpp": '#include "kolmo/ops/nn/relu/relu.hpp"\n// never <<<>>>\nconst char* s = "<<<";',
    "kolmo/flow/report/a.cpp": '#include "kolmo/flow/result/markup.hpp"\n#include "kolmo/flow/data/series.hpp"',
    "cli/a.cpp": '#include "kolmo/flow/data/series.hpp"\n#include "cli/table.hpp"',
    "bench/a.cu": '#include "cli/table.hpp"\nvoid f() { kernel<<<1, 2>>>(); }',
}


class CheckLayers(unittest.TestCase):
    def test_wrong_arrows_are_reported(self):
        for path, text in WRONG.items():
            self.assertTrue(list(faults(path, text)), f"{path}: {text}")

    def test_right_arrows_are_accepted(self):
        for path, text in RIGHT.items():
            self.assertEqual(list(faults(path, text)), [], path)

    def test_line_numbers(self):
        text = '#pragma once\n#include <vector>\n\n#include "kolmo/op/op.hpp"\n'
        self.assertEqual([line for line, _ in faults("kolmo/base/a.hpp", text)], [4])


if __name__ == "__main__":
    unittest.main()
