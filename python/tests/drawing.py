"""Arguments of an operator, drawn from what its fields say: sizes from their shapes, values from their domains."""
import math

import numpy as np

SIZES = [0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 65]
NUMPY = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u64": "u8", "u32": "u4", "u16": "u2",
         "u8": "u1", "c128": "c16", "c64": "c8", "bool": "?"}
DENSE = {"kuramoto_evolution": "adjacency", "reservoir_update": "weights"}  # the dense matrix, which is given unless the sparse one is
TOGETHER = {"rssm_rollout": ("controls", "weight_controls")}  # optional arrays that are given together
KEEP = {"attention": {"scale"}, "matmul": {"output"}}  # options for which only the default agrees with all that is drawn


def related_sizes(name, rng, options):
    """Sizes that the operator's check ties to one another or to an option, which the shapes do not say."""
    size = lambda low, high: int(rng.integers(low, high))  # noqa: E731
    n = size(1, 34)
    if name in ("hadamard", "pauli_x", "phase_gate", "cnot", "quantum_measurement"):
        return {"n": 2 ** size(4, 8)}
    if name in ("gru_cell", "gru_forward", "gru_backward", "rssm_rollout", "lstm_cell"):
        return {"n": n, "g": (4 if name == "lstm_cell" else 3) * n}
    if name == "world_model_gradient":
        units = options.get("hidden", 48)
        return {"p": 3 * units**2 + 60 * units + 161, "b": size(8, 40)}
    if name == "multi_head_attention":
        e, t = options.get("heads", 1) * size(1, 9), size(0, 20)
        return {"e": e, "f": 3 * e, "t": t, "m0": 1, "m1": t}
    if name == "attention":
        heads, groups, s, t = size(1, 4), size(1, 3), size(0, 40), size(0, 40)
        first = options.get("layout") != "heads_last"
        q, k = (heads * groups, s), (heads, t)
        return {"q0": q[not first], "q1": q[first], "k0": k[not first], "k1": k[first], "m0": 1, "m1": t}
    if name == "matmul":
        m, k = size(0, 34), size(0, 34)
        a, b = ((k, m) if options.get("transpose_a") else (m, k)), ((n, k) if options.get("transpose_b") else (k, n))
        return {"m": m, "n": n, "a0": a[0], "a1": a[1], "b0": b[0], "b1": b[1]}
    if name == "linear":
        k, across = size(0, 34), options.get("layout") == "in_out"
        return {"k": k, "n": n, "w0": k if across else n, "w1": n if across else k}
    if name == "conv2d":
        groups = options.get("groups", 1)
        channels, image, window = groups * size(1, 5), (size(7, 12), size(7, 12)), (size(1, 4), size(1, 4))
        x, w = ((*image, channels), (*window, channels // groups)) if options.get("layout") == "nhwc" else \
            ((channels, *image), (channels // groups, *window))
        return {"o": groups * size(1, 5), **{f"x{i + 1}": s for i, s in enumerate(x)}, **{f"w{i + 1}": s for i, s in enumerate(w)}}
    if name.startswith("ksg") or name == "nearest_neighbors":
        return {"n": size(30, 80), "b": size(1, 3), "dx": size(1, 3), "dy": size(1, 3), "dz": size(1, 3), "d": size(1, 4),
                "trials": size(1, 3), "g": size(1, 3), "t1": 2}
    return {}


def option(field, rng):
    kind, low, high = field["kind"], field.get("min"), field.get("max")
    if kind == "flag":
        return bool(rng.integers(2))
    if kind == "choice":
        return str(rng.choice(field["choices"]))
    if kind == "real":
        low, high = -2 if low is None else max(low, -3), 3 if high is None else min(high, 3)
        return float(rng.uniform(low, high))
    if kind == "list":
        return [int(i) for i in rng.choice(np.arange(field["min"], field["min"] + 4), int(rng.integers(1, 3)), replace=False)]
    return min(max(low or 0, 0) + int(rng.choice([0, 1, 2, 3, 7])), high)


def values(field, shape, dtype, sizes, rng):
    domain = field["domain"]
    if domain == "mask" or dtype == "?":
        return (rng.random(shape) < 0.6).astype(dtype)
    if domain == "index":
        return rng.integers(0, max(1, sizes.get("n", sizes.get("v", 1))), shape).astype(dtype)
    if domain == "offsets":
        edges = np.sort(rng.integers(0, sizes.setdefault("e", int(rng.choice(SIZES))) + 1, shape))
        edges[:1], edges[-1:] = 0, sizes["e"]
        return edges.astype(dtype)
    if domain == "ascending":
        return np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    if domain == "count" and dtype[0] in "iu":
        return rng.integers(0, 3, shape).astype(dtype)
    if domain == "symmetric positive definite":
        a = rng.normal(size=shape)
        return (a @ np.swapaxes(a, -1, -2) / max(1, shape[-1]) + np.eye(shape[-1])).astype(dtype)
    if domain == "probability":
        p = rng.random(shape) + 0.01
        return (p / p.sum(-1, keepdims=True)).astype(dtype)
    if domain in ("positive", "unit", "count"):
        return (rng.random(shape) + 0.001).astype(dtype)
    scale = max(1, shape[-1]) ** -0.5 if len(shape) > 1 else 1  # keeps sums of rows, and what is computed from them, near 1
    x = rng.normal(size=shape) * scale
    return (x + 1j * rng.normal(size=shape) * scale if dtype[0] == "c" else x * (1 if dtype[0] == "f" else 20)).astype(dtype, casting="unsafe")


def draw(described, seed):
    """Draws arguments by name. An option or optional array that is left out has its default."""
    rng, name = np.random.default_rng(seed), described["name"]
    chosen = {f["name"]: option(f, rng) for f in described["fields"] if "shape" not in f and not f["bound"]
              and f["name"] not in KEEP.get(name, ()) and rng.random() < 0.5}
    sizes, dtypes, arguments = related_sizes(name, rng, chosen), {}, {}
    sparse, planned = bool(rng.integers(2)), bool(rng.integers(2))
    batch = [int(rng.choice([0, 1, 2, 3])) for _ in range(int(rng.integers(0, 3)))]

    def given(field):
        if name in DENSE and field["name"] in ("offsets", "columns", "values", DENSE[name]):
            return sparse != (field["name"] == DENSE[name])
        if field["name"] in TOGETHER.get(name, ()):
            return planned
        return not field["optional"] or rng.random() < 0.5

    def extent(word):
        if word.isdigit():
            return int(word)
        for sign in (1, -1):
            size, mark, more = word.rstrip("?").partition("+" if sign > 0 else "-")
            if mark:
                return max(0, extent(size) + sign * int(more))
        if word in chosen:
            return chosen[word]
        return sizes.setdefault(word, int(rng.choice(SIZES if len(sizes) < 2 else SIZES[:12])))

    for field in described["fields"]:
        if "shape" not in field or field["kind"] == "out" or not given(field):
            continue
        known = [NUMPY[t] for t in field["dtypes"] if t in NUMPY]
        dtype = dtypes.setdefault(tuple(field["dtypes"]), str(rng.choice(known)))
        shape = []
        for word in field["shape"].split():
            shape += batch if word == "..." else batch[len(batch) - int(rng.integers(0, len(batch) + 1)):] if word == "...?" else [extent(word)]
        arguments[field["name"]] = np.asarray(values(field, shape, dtype, sizes, rng))
    for field in described["fields"]:  # sizes that are options
        if "shape" not in field and field["name"] in sizes:
            chosen[field["name"]] = sizes[field["name"]]
    return {**arguments, **chosen}
