"""Times of PyTorch on a GPU for the cases of `kolmo bench` that it can compute: python3 bench/gpu_pytorch.py RECORD.json
--check: each case once, small, on the CPU, without a record.

Each is the time of a call, of 10 samples of many calls one after the other, as in `kolmo bench`: large products slow down as the
GPU grows warm. Takes half a minute."""
import argparse
import math
import sys
import time
from datetime import date
from pathlib import Path

try:
    import torch
    import torch.nn.functional as f
except ImportError:  # the names of the cases do not need PyTorch
    torch = f = None

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from record_text import record_text  # noqa: E402

SAMPLES, SECONDS = 10, 0.01  # a sample takes about this many seconds
SMALL = False
TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
CASES = {}  # by "operator: case of kolmo bench": a function that makes the inputs and returns the call


def case(operator: str, name: str):
    def add(make):
        CASES[f"{operator}: {name}"] = make
        return make
    return add


def extents(shape) -> list[int]:
    return [min(n, 32) for n in shape] if SMALL else list(shape)


def rand(t: str, *shape: int):
    return torch.randn(extents(shape), device="cpu" if SMALL else "cuda").to(getattr(torch, TYPES[t]))


def unary(operator: str, name: str, t: str, function, *shape: int) -> None:
    @case(operator, name)
    def make():
        x = rand(t, *shape)
        return lambda: function(x)


def binary(operator: str, name: str, t: str, function, *shapes) -> None:
    @case(operator, name)
    def make():
        x, y = (rand(t, *shape) for shape in shapes)
        return lambda: function(x, y)


def product(name: str, t: str, a, b) -> None:
    binary("matmul", f"{name} {t}", t, lambda x, y: x @ y, a, b)


def products() -> None:
    for n, t in ((256, "f32"), (1024, "f32"), (4096, "f32"), (8192, "f32"), (1024, "f64"), (4096, "f64"), (256, "f16"), (1024, "f16"),
                 (2048, "f16"), (4096, "f16"), (8192, "f16"), (4096, "bf16")):
        product(f"{n} cube", t, (n, n), (n, n))
    for m, n, k, t in ((65536, 64, 64, "f32"), (16, 4096, 4096, "f32"), (64, 64, 65536, "f32"), (16, 4096, 4096, "bf16")):
        product(f"{m} {n} {k}", t, (m, k), (k, n))
    for n, t in ((32, "f32"), (64, "f16")):
        product(f"4096 of {n} {n} {n}", t, (4096, n, n), (4096, n, n))
    binary("matmul", "1 4096 4096 bf16, b transposed", "bf16", lambda a, b: f.linear(a, b), (1, 4096), (4096, 4096))
    for name, t, rows, k, n, function in (("fused_linear_relu, 8192 rows of 1024 to 1024 f32", "f32", 8192, 1024, 1024, "relu"),
                                          ("fused_linear_gelu, 8192 rows of 1024 to 4096 f16", "f16", 8192, 1024, 4096, "gelu")):
        @case("linear", name)
        def make(t=t, rows=rows, k=k, n=n, function=function):
            x, w, b = rand(t, rows, k), rand(t, n, k), rand(t, n)
            return lambda: getattr(f, function)(f.linear(x, w, b))
    binary("linear", "fused_matmul_relu, 65536 rows of 64 to 64 f32", "f32", lambda x, w: f.relu(x @ w), (65536, 64), (64, 64))


def attentions() -> None:
    def attend(name, t, batch, heads, groups, queries, keys, d, causal=False):
        @case("attention", name)
        def make():
            q, k, v = rand(t, batch, heads, queries, d), rand(t, batch, groups, keys, d), rand(t, batch, groups, keys, d)
            return lambda: f.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=groups != heads)

    for d in (128, 64):
        for causal in (False, True):
            attend(f"B4 H16 S4096 D{d} f16{', causal' * causal}", "f16", 4, 16, 16, 4096, 4096, d, causal)
    for causal in (False, True):
        attend(f"B1 H16 S16384 D128 bf16{', causal' * causal}", "bf16", 1, 16, 16, 16384, 16384, 128, causal)
    attend("B4 H16 S1024 D64 f32", "f32", 4, 16, 16, 1024, 1024, 64)
    attend("one query, 65536 keys, 32 heads in 8 groups, D128 f16", "f16", 1, 32, 8, 1, 65536, 128)
    attend("fused_attention_softmax B2 H8 S2048 D64 f16", "f16", 2, 8, 8, 2048, 2048, 64)
    attend("fused_attention_softmax B1 H8 S1024 D64 f32", "f32", 1, 8, 8, 1024, 1024, 64)

    @case("multi_head_attention", "8 of 1024, 16 heads of 64, f16")
    def heads():
        x = rand("f16", 8, 1024, 1024)
        m = torch.nn.MultiheadAttention(x.shape[-1], 16, batch_first=True, device=x.device, dtype=x.dtype).eval()
        return lambda: m(x, x, x, need_weights=False)

    @case("rope_encoding", "64 x 4096 x 128 f32")
    def rope():
        x = rand("f32", 64, 4096, 128)
        turns = torch.view_as_complex(rand("f32", x.shape[1], x.shape[2] // 2, 2))
        return lambda: torch.view_as_real(torch.view_as_complex(x.view(*x.shape[:2], -1, 2)) * turns)

    @case("rope_encoding", "64 x 4096 x 128 f16 halves")
    def halves():
        x = rand("f16", 64, 4096, 128)
        cosine, sine, half = torch.rand_like(x[0]), torch.rand_like(x[0]), x.shape[-1] // 2
        return lambda: x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine


def convolutions() -> None:
    def convolve(name, t, x, w, act=lambda y: y, nhwc=False, bias=False, **options):
        @case("conv2d", name)
        def make():
            layout = torch.channels_last if nhwc else torch.contiguous_format
            image, kernel = (rand(t, *shape).to(memory_format=layout) for shape in (x, w))
            b = rand(t, w[0]) if bias else None
            if "groups" in options:
                options["groups"] = image.shape[1]
            return lambda: act(f.conv2d(image, kernel, b, **options))

    def relu(y):
        return f.relu(y)

    convolve("32 of 64 x 56 x 56 f32, 3 x 3, relu", "f32", (32, 64, 56, 56), (64, 64, 3, 3), relu, bias=True, padding=1)
    convolve("32 of 56 x 56 x 64 f16 nhwc, 3 x 3, relu", "f16", (32, 64, 56, 56), (64, 64, 3, 3), relu, nhwc=True, bias=True, padding=1)
    convolve("8 of 256 x 28 x 28 f32, 512 of 1 x 1", "f32", (8, 256, 28, 28), (512, 256, 1, 1))
    convolve("8 of 3 x 224 x 224 f32, 64 of 7 x 7, stride 2", "f32", (8, 3, 224, 224), (64, 3, 7, 7), stride=2, padding=3)
    convolve("8 of 128 x 56 x 56 f32, 128 groups of 3 x 3", "f32", (8, 128, 56, 56), (128, 1, 3, 3), padding=1, groups=128)
    convolve("32 of 56 x 56 x 128 f16 nhwc, 128 groups of 3 x 3", "f16", (32, 128, 56, 56), (128, 1, 3, 3), nhwc=True, padding=1, groups=128)


def recurrent() -> None:
    for batch, units in ((1, 256), (1, 512), (1, 1024), (64, 256)):
        @case("gru_forward", f"50 steps of {units if batch == 1 else f'{batch} times {units}'} units, f32")
        def sequence(batch=batch, units=units):
            x = rand("f32", batch, 50, 64)
            gru = torch.nn.GRU(x.shape[-1], units, batch_first=True, device=x.device)
            return lambda: gru(x)
    for name, count in (("one state", 1), ("256 states", 256)):
        @case("lstm_cell", f"{name} of 1024, f32")
        def lstm(count=count):
            x = rand("f32", count, 1024)
            cell = torch.nn.LSTMCell(x.shape[-1], x.shape[-1], device=x.device)
            return lambda: cell(x, (x, x))

        @case("gru_cell", f"{name} of 1024, f32")
        def gru(count=count):
            x = rand("f32", count, 1024)
            cell = torch.nn.GRUCell(x.shape[-1], x.shape[-1], device=x.device)
            return lambda: cell(x, x)


def norms() -> None:
    def layer(name, t, rows, k, act=lambda y: y):
        @case("layer_norm", name)
        def make():
            x, scale, shift = rand(t, rows, k), rand(t, k), rand(t, k)
            return lambda: act(f.layer_norm(x, x.shape[-1:], scale, shift))

    def batch(name, t, *shape, act=lambda y: y, training=False):
        @case("batch_norm", name)
        def make():
            x, scale, shift, mean = rand(t, *shape), *(rand(t, shape[1]) for _ in range(3))
            variance = torch.ones_like(mean)
            return lambda: act(f.batch_norm(x, mean, variance, scale, shift, training))

    layer("4096 rows of 4096 f32", "f32", 4096, 4096)
    layer("4096 rows of 4096 f16", "f16", 4096, 4096)
    layer("2^16 rows of 256 f32", "f32", 2**16, 256)
    layer("fused_layernorm_gelu 4096 rows of 4096 f32", "f32", 4096, 4096, lambda y: f.gelu(y))
    batch("32 x 64 x 3136 f32", "f32", 32, 64, 3136)
    batch("training 32 x 64 x 3136 f32", "f32", 32, 64, 3136, training=True)
    batch("training 16384 x 512 f32", "f32", 16384, 512, training=True)
    batch("fused_batchnorm_relu 32 x 64 x 3136 f16", "f16", 32, 64, 3136, act=lambda y: f.relu(y))
    for name, t, rows, k in (("4096 rows of 4096 f32", "f32", 4096, 4096), ("4096 rows of 4096 f16", "f16", 4096, 4096),
                             ("2^17 rows of 128 f32", "f32", 2**17, 128), ("one row of 2^24 f32", "f32", 1, 2**24)):
        unary("softmax", name, t, lambda x: torch.softmax(x, -1), rows, k)
    unary("normalize", "l2 4096 rows of 4096 f32", "f32", lambda x: f.normalize(x, dim=-1), 4096, 4096)
    unary("normalize", "l2 2^17 rows of 128 f16", "f16", lambda x: f.normalize(x, dim=-1), 2**17, 128)


def passes_over_memory() -> None:
    n = 2**24
    for operator, function in (("relu", "relu"), ("elementwise_exp", "exp"), ("sigmoid", "sigmoid"), ("tanh", "tanh")):
        for t in ("f32", "f16"):
            unary(operator, f"n=2^24 {t}", t, lambda x, function=function: getattr(torch, function)(x), n)
    for t in ("f32", "f16"):
        unary("gelu", f"n=2^24 {t}", t, lambda x: f.gelu(x), n)
        binary("broadcast_add", f"16384 x 1024 {t}", t, lambda x, y: x + y, (16384, 1024), (1024,))
        binary("dot_product", f"4096 rows of 4096 {t}", t, lambda x, y: torch.linalg.vecdot(x, y), (4096, 4096), (4096, 4096))
        unary("reduce_sum", f"4096 rows of 4096 {t}", t, lambda x: x.sum(-1), 4096, 4096)
    unary("gelu", "n=2^24 f32, tanh", "f32", lambda x: f.gelu(x, approximate="tanh"), n)
    unary("digamma", "n=2^24 f64", "f64", lambda x: torch.digamma(x), n)
    unary("fp16_to_fp32", "n=2^24", "f16", lambda x: x.float(), n)
    unary("fp32_to_fp16", "n=2^24", "f32", lambda x: x.half(), n)
    unary("contiguous_copy", "transposed 2^24 f32", "f32", lambda x: x.t().contiguous(), 2**21, 7)
    binary("vector_add", "n=2^24 f32", "f32", lambda x, y: x + y, (n,), (n,))
    binary("elementwise_multiply", "n=2^24 f32", "f32", lambda x, y: x * y, (n,), (n,))
    for t in ("f32", "f64"):
        unary("reduce_sum", f"one row of 2^24 {t}", t, lambda x: x.sum(), n)
        binary("dot_product", f"one row of 2^24 {t}", t, lambda x, y: torch.dot(x, y), (n,), (n,))
        unary("random_uniform", f"n=2^24 {t}", t, lambda x: x.uniform_(), n)
        unary("random_normal", f"n=2^24 {t}", t, lambda x: x.normal_(), n)
    unary("reduce_sum", "2^20 rows of 16 f32", "f32", lambda x: x.sum(-1), 2**20, 16)
    binary("dot_product", "2^20 rows of 16 f32", "f32", lambda x, y: torch.linalg.vecdot(x, y), (2**20, 16), (2**20, 16))


def choices() -> None:
    for t in ("f32", "f16"):
        @case("embedding_lookup", f"65536 rows of 1024 from 50000 {t}")
        def lookup(t=t):
            table = rand(t, 50000, 1024)
            index = torch.randint(len(table), extents([65536]), device=table.device)
            return lambda: f.embedding(index, table)
    for name, rows, k, draws in (("2^22 draws from k=1000 f32", 1, 1000, 2**22), ("4096 rows of k=32768 f32", 4096, 32768, 1)):
        @case("categorical_sample", name)
        def draw(rows=rows, k=k, draws=draws):
            p = rand("f32", rows, k).abs()
            return lambda: torch.multinomial(p, *extents([draws]), replacement=True)

    def top_50(logits):
        value, index = torch.topk(logits, min(50, logits.shape[-1]))
        return index.gather(-1, torch.multinomial(torch.softmax(value, -1, torch.float32), 1))

    def share(logits):
        value, index = torch.sort(logits, descending=True)
        p = torch.softmax(value, -1, torch.float32)
        return index.gather(-1, torch.multinomial(torch.where(p.cumsum(-1) - p < 0.9, p, 0), 1))

    def top(logits):  # keeps the 40 largest, and of these those that hold 0.9 of the probability
        value, index = torch.topk(logits, min(40, logits.shape[-1]))
        p = torch.softmax(value / 1.5, -1, torch.float32)
        return index.gather(-1, torch.multinomial(torch.where(p.cumsum(-1) - p < 0.9, p, 0), 1))

    unary("top_k_sampling", "256 rows of v=50257 f32, top 50", "f32", top_50, 256, 50257)
    unary("top_k_sampling", "256 rows of v=50257 f32, top_p 0.9", "f32", share, 256, 50257)
    unary("top_k_sampling", "one row of v=128256 f16, top_p 0.9", "f16", share, 1, 128256)
    unary("top_k_sampling", "256 rows of v=50257 f32, both", "f32", top, 256, 50257)
    unary("top_k_sampling", "one row of v=128256 f16, both", "f16", top, 1, 128256)
    for bins in (10, 256):
        @case("histogram_2d", f"n=2^24, {bins} x {bins} bins")
        def histogram(bins=bins):
            x, y = (torch.rand_like(rand("f64", 2**24)) for _ in range(2))
            return lambda: torch.bincount((x * bins).long() * bins + (y * bins).long(), minlength=bins * bins)


def copies() -> None:
    """Measures copies, with which bench/below_copy.py compares. Kolmo has no such case."""
    for t, name in (("f32", "float32"), ("f16", "float16")):
        def make(t=t):
            x = rand(t, 2**24)
            y = torch.empty_like(x)
            return lambda: y.copy_(x)
        CASES[f"copy 2^24 torch.{name}"] = make


for group in (products, attentions, convolutions, recurrent, norms, passes_over_memory, choices, copies):
    group()


def sample(call) -> list[float]:
    """Measures the microseconds of a call; returns the samples in ascending order."""
    def timed(calls: int) -> float:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(calls):
            call()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / calls * 1e3

    timed(3)
    calls = min(500, max(2, math.ceil(SECONDS * 1e6 / timed(3))))
    return sorted(round(timed(calls), 2) for _ in range(SAMPLES))


def main() -> None:
    global SMALL
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", nargs="?")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check == bool(options.record):
        parser.error("give a record, or --check")
    SMALL, begin, times = options.check, time.monotonic(), {}
    torch.backends.cudnn.allow_tf32 = False
    with torch.inference_mode():
        for name, make in CASES.items():
            call = make()
            if SMALL:
                call()
                continue
            times[name] = sample(call)
    print(f"{len(CASES)} cases, {time.monotonic() - begin:.0f} s")
    if SMALL:
        return
    record = {"kind": "torch", "date": date.today().isoformat(), "torch": torch.__version__, "device": torch.cuda.get_device_name(),
              "command": "python3 bench/gpu_pytorch.py", "microseconds": times}
    Path(options.record).write_text(record_text(record), encoding="utf-8")


if __name__ == "__main__":
    main()
