"""Times of PyTorch on a GPU for the cases that docs/h200.md puts beside Kolmo's: python3 bench/gpu_pytorch.py RECORD.json

Each is the time of a call, of 10 samples of many calls one after the other, as in `kolmo bench`: large products slow down as the
GPU grows warm."""
import json
import sys
from datetime import date

import torch
import torch.nn.functional as f


def sample(call, calls: int) -> list[float]:
    """Microseconds of a call, in ascending order."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(10):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(calls):
            call()
        end.record()
        torch.cuda.synchronize()
        times.append(round(start.elapsed_time(end) / calls * 1e3, 2))
    return sorted(times)


def products(out: dict) -> None:
    for n, dtype in ((1024, torch.float16), (2048, torch.float16), (4096, torch.float16), (8192, torch.float16), (4096, torch.bfloat16),
                     (4096, torch.float32), (8192, torch.float32), (1024, torch.float64), (4096, torch.float64)):
        a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
        y = torch.empty_like(a)
        out[f"matmul {n} cube {dtype}"] = sample(lambda a=a, b=b, y=y: torch.mm(a, b, out=y), 20 if n < 8192 else 10)
    a, b = (torch.randn(rows, 4096, device="cuda", dtype=torch.bfloat16) for rows in (16, 4096))
    out["matmul 16 4096 4096 bf16"] = sample(lambda: a @ b, 200)


def layers(out: dict) -> None:
    for s, batch, heads, d in ((4096, 4, 16, 128), (4096, 4, 16, 64), (16384, 1, 16, 128)):
        q, k, v = (torch.randn(batch, heads, s, d, device="cuda", dtype=torch.float16) for _ in range(3))
        for causal in (False, True):
            out[f"sdpa B{batch} H{heads} S{s} D{d} causal={causal}"] = sample(
                lambda q=q, k=k, v=v, causal=causal: f.scaled_dot_product_attention(q, k, v, is_causal=causal), 10)
    torch.backends.cudnn.allow_tf32 = False
    x, w = torch.randn(32, 64, 56, 56, device="cuda"), torch.randn(64, 64, 3, 3, device="cuda")
    out["conv+relu f32"] = sample(lambda: f.relu(f.conv2d(x, w, padding=1)), 20)
    xh, wh = (t.half().to(memory_format=torch.channels_last) for t in (x, w))
    out["conv+relu f16 nhwc"] = sample(lambda: f.relu(f.conv2d(xh, wh, padding=1)), 20)
    for units in (256, 512):
        gru, series = torch.nn.GRU(units, units, batch_first=True).cuda(), torch.randn(1, 50, units, device="cuda")
        out[f"gru 50 steps {units}"] = sample(lambda gru=gru, series=series: gru(series), 20)
    x, mean, variance = torch.randn(16384, 512, device="cuda"), torch.zeros(512, device="cuda"), torch.ones(512, device="cuda")
    out["batch_norm training 16384x512"] = sample(lambda: f.batch_norm(x, mean, variance, training=True), 50)


def passes_over_memory(out: dict) -> None:
    for dtype in (torch.float32, torch.float16):
        x = torch.randn(2**24, device="cuda").to(dtype)
        y = torch.empty_like(x)
        for name, call in (("copy", lambda x=x, y=y: y.copy_(x)), ("relu", lambda x=x: torch.relu(x)), ("exp", lambda x=x: torch.exp(x)),
                           ("sigmoid", lambda x=x: torch.sigmoid(x)), ("tanh", lambda x=x: torch.tanh(x)), ("gelu", lambda x=x: f.gelu(x)),
                           ("sum", lambda x=x: x.sum()), ("add", lambda x=x, y=y: torch.add(x, x, out=y))):
            out[f"{name} 2^24 {dtype}"] = sample(call, 50)
    x = torch.empty(2**24, device="cuda")
    out["rand 2^24 f32"] = sample(lambda: x.uniform_(), 50)
    out["randn 2^24 f32"] = sample(lambda: x.normal_(), 50)
    rows = torch.randn(4096, 4096, device="cuda")
    out["softmax 4096x4096 f32"] = sample(lambda: torch.softmax(rows, -1), 50)
    out["layer_norm 4096x4096 f32"] = sample(lambda: f.layer_norm(rows, (4096,)), 50)
    out["rows sum 4096x4096 f32"] = sample(lambda: rows.sum(-1), 50)
    thin = torch.randn(1 << 21, 7, device="cuda")
    out["transposed copy 7 x 2^21"] = sample(lambda: thin.t().contiguous(), 50)


def main() -> None:
    times: dict[str, list[float]] = {}
    products(times)
    layers(times)
    passes_over_memory(times)
    record = {"kind": "torch", "date": date.today().isoformat(), "torch": torch.__version__, "device": torch.cuda.get_device_name(),
              "command": "python3 bench/gpu_pytorch.py", "microseconds": times}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
