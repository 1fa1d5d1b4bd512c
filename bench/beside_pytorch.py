"""The table of docs/h200.md: cases of a record of `kolmo bench` beside the times of bench/gpu_pytorch.py, slowest first. A case that
only one of the records has is left out."""
from statistics import median

CUBES = [(f"matmul {n} cube {t}", "matmul", f"{n} cube {t}", f"matmul {n} cube torch.{name}")
         for n, t, name in ((1024, "f16", "float16"), (4096, "f16", "float16"), (8192, "f16", "float16"), (4096, "f32", "float32"),
                            (8192, "f32", "float32"), (1024, "f64", "float64"), (4096, "f64", "float64"))]
ATTENTION = [(f"attention {size} f16{', causal' * causal}", "attention", f"{size} f16{', causal' * causal}",
              f"sdpa {size} causal={bool(causal)}") for size in ("B4 H16 S4096 D128", "B4 H16 S4096 D64") for causal in (0, 1)]
UNARY = [(f"{op} 2^24 {t}", op, f"n=2^24 {t}", f"{theirs} 2^24 torch.{name}")
         for op, theirs in (("relu", "relu"), ("elementwise_exp", "exp"), ("sigmoid", "sigmoid"), ("tanh", "tanh"), ("gelu", "gelu"))
         for t, name in (("f16", "float16"), ("f32", "float32"))]
PAIRS = [  # shown as, operator, its case, PyTorch's name for it in records that do not name the case as `operator: case`
    *CUBES, *ATTENTION, *UNARY,
    ("matmul 16 4096 4096 bf16", "matmul", "16 4096 4096 bf16", "matmul 16 4096 4096 bf16"),
    ("conv2d and relu, 32 x 64 x 56 x 56, 3 x 3, f32", "conv2d", "32 of 64 x 56 x 56 f32, 3 x 3, relu", "conv+relu f32"),
    ("conv2d and relu, 32 x 64 x 56 x 56, 3 x 3, f16, channels last", "conv2d", "32 of 56 x 56 x 64 f16 nhwc, 3 x 3, relu", "conv+relu f16 nhwc"),
    ("gru_forward 50 steps of 256 units f32", "gru_forward", "50 steps of 256 units, f32", "gru 50 steps 256"),
    ("gru_forward 50 steps of 512 units f32", "gru_forward", "50 steps of 512 units, f32", "gru 50 steps 512"),
    ("batch_norm training 16384 x 512 f32", "batch_norm", "training 16384 x 512 f32", "batch_norm training 16384x512"),
    ("random_uniform 2^24 f32", "random_uniform", "n=2^24 f32", "rand 2^24 f32"),
    ("random_normal 2^24 f32", "random_normal", "n=2^24 f32", "randn 2^24 f32"),
    ("softmax 4096 x 4096 f32", "softmax", "4096 rows of 4096 f32", "softmax 4096x4096 f32"),
    ("layer_norm 4096 x 4096 f32", "layer_norm", "4096 rows of 4096 f32", "layer_norm 4096x4096 f32"),
    ("reduce_sum 4096 x 4096 f32", "reduce_sum", "4096 rows of 4096 f32", "rows sum 4096x4096 f32"),
    ("reduce_sum one row of 2^24 f32", "reduce_sum", "one row of 2^24 f32", "sum 2^24 torch.float32"),
    ("contiguous_copy transposed 7 x 2^21 f32", "contiguous_copy", "transposed 2^24 f32", "transposed copy 7 x 2^21"),
]


def shown(microseconds: float) -> str:
    return f"{microseconds / 1e3:.2f} ms" if microseconds >= 1e3 else f"{microseconds:.1f} us"


def times(record: dict) -> dict[tuple[str, str], float]:
    """Microseconds by operator and case."""
    return {(op["name"], result["case"]): result["seconds"] * 1e6 for op in record["ops"] for result in op["results"]}


def pairs(torch: dict) -> list[tuple[str, str, str, str]]:
    named = [(key, *key.split(": ", 1)) for key in torch["microseconds"] if ": " in key]
    return PAIRS + [(case if case.startswith("fused_") else f"{op} {case}", op, case, key) for key, op, case in named]


def table(record: dict, torch: dict) -> str:
    ours, theirs = times(record), {name: median(samples) for name, samples in torch["microseconds"].items()}
    rows = sorted((theirs[key] / ours[op, case], name, ours[op, case], theirs[key])
                  for name, op, case, key in pairs(torch) if key in theirs and (op, case) in ours)
    lines = [f"| {name} | {shown(own)} | {shown(their)} | {ratio:.2f} |" for ratio, name, own, their in rows]
    return "\n".join(["| case | Kolmo | PyTorch | PyTorch / Kolmo |", "|---|---|---|---|", *lines]) + "\n"
