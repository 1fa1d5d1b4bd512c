"""Operators of neural networks beside PyTorch. Tolerances count rounding errors of f64: products and sums of a few hundred terms, and
functions that differ in their last bits."""
from __future__ import annotations

import kolmo
import numpy as np
import torch
import torch.nn.functional as F

from peers import Pair, peer

SUMS = 1e-12  # sums of up to 1e3 terms, each within 2^-53
FUNCTIONS = 1e-14


def shape(rng, dims=2, most=40):
    return tuple(int(n) for n in rng.integers(1, most, dims))


def t(x):
    return torch.from_numpy(np.ascontiguousarray(x))


def activation(name):
    return {"none": lambda y: y, "relu": torch.relu, "gelu": F.gelu, "gelu_tanh": lambda y: F.gelu(y, approximate="tanh")}[name]


def pick(rng, *choices):
    return choices[int(rng.integers(len(choices)))]


def elementwise(name, function, arguments=1):
    @peer(name, "torch")
    def problem(rng):
        xs = [rng.normal(0, 3, shape(rng))]
        if arguments == 2:
            xs.append(rng.normal(size=xs[0].shape))
        pairs = [Pair(getattr(kolmo, name)(*xs), function(*map(t, xs)).numpy(), FUNCTIONS)]
        low = [t(x).to(torch.bfloat16) for x in xs]
        return [*pairs, Pair(getattr(kolmo, name)(*low).double().numpy(), function(*[x.double() for x in low]).numpy(), 2**-8)]


elementwise("vector_add", torch.add, 2)
elementwise("elementwise_multiply", torch.mul, 2)
elementwise("elementwise_exp", torch.exp)
elementwise("relu", torch.relu)
elementwise("sigmoid", torch.sigmoid)
elementwise("tanh", torch.tanh)


@peer("gelu", "torch")
def gelu(rng):
    x, form = rng.normal(0, 3, shape(rng)), pick(rng, "erf", "tanh")
    return [Pair(kolmo.gelu(x, form=form), F.gelu(t(x), approximate={"erf": "none", "tanh": "tanh"}[form]).numpy(), FUNCTIONS)]


@peer("broadcast_add", "torch")
def broadcast_add(rng):
    x = rng.normal(size=shape(rng, 3))
    bias = rng.normal(size=x.shape[-1])
    return [Pair(kolmo.broadcast_add(x, bias), (t(x) + t(bias)).numpy())]


@peer("contiguous_copy", "torch")
def contiguous_copy(rng):
    x = t(rng.normal(size=shape(rng, 4, 9))).permute(*rng.permutation(4).tolist())[..., ::2]
    return [Pair(kolmo.contiguous_copy(x).numpy(), x.contiguous().numpy())]


@peer("fp32_to_fp16", "torch")
def narrowing(rng):
    x = rng.normal(0, 10.0 ** rng.integers(-9, 5), shape(rng)).astype(np.float32)
    return [Pair(kolmo.fp32_to_fp16(x), t(x).half().numpy())]


@peer("fp16_to_fp32", "torch")
def widening(rng):
    x = rng.integers(0, 1 << 16, shape(rng), dtype=np.uint16).view(np.float16)
    return [Pair(kolmo.fp16_to_fp32(x), t(x).float().numpy())]


@peer("dot_product", "torch")
def dot_product(rng):
    x = rng.normal(size=(int(rng.integers(1, 9)), int(rng.integers(1, 500))))
    y = rng.normal(size=x.shape)
    return [Pair(kolmo.dot_product(x, y), (t(x) * t(y)).sum(-1).numpy(), SUMS, 30)]


@peer("reduce_sum", "torch")
def reduce_sum(rng):
    x = rng.normal(size=(int(rng.integers(1, 9)), int(rng.integers(1, 1000))))
    return [Pair(kolmo.reduce_sum(x), t(x).sum(-1).numpy(), SUMS, 30)]


def product(name):
    @peer(name, "torch")
    def problem(rng):
        (m, n), k = shape(rng), int(rng.integers(1, 60))
        a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
        f = pick(rng, "none", "relu", "gelu", "gelu_tanh")
        alpha, beta, c, bias = rng.normal(), rng.normal(), rng.normal(size=(m, n)), rng.normal(size=n)
        want = activation(f)(alpha * t(a) @ t(b) + beta * t(c) + t(bias)).numpy()
        got = kolmo.matmul(np.ascontiguousarray(a.T), np.ascontiguousarray(b.T), c, bias, alpha=alpha, beta=beta, transpose_a=True, transpose_b=True,
                           activation=f)
        return [Pair(kolmo.matmul(a, b, c, bias, alpha=alpha, beta=beta, activation=f), want, SUMS, 30), Pair(got, want, SUMS, 30)]


product("matmul")


def half_product(name):
    @peer(name, "torch")
    def problem(rng):
        a, b = (t(rng.normal(size=16 * rng.integers(1, 5, 2))).half() for _ in range(2))
        b = t(rng.normal(size=(a.shape[1], 16 * int(rng.integers(1, 5))))).half()
        return [Pair(getattr(kolmo, name)(a, b).double().numpy(), (a.double() @ b.double()).numpy(), 2**-10, 8)]


half_product("tensor_core_matmul")
half_product("tensor_core_matmul_wmma")


def linear_alias(name, f, in_out=False):
    @peer(name, "torch")
    def problem(rng):
        rows, n, k = shape(rng, 3)
        x, w, b = rng.normal(size=(rows, k)), rng.normal(size=(n, k)), rng.normal(size=n)
        got = getattr(kolmo, name)(x, np.ascontiguousarray(w.T) if in_out else w, b)
        return [Pair(got, f(F.linear(t(x), t(w), t(b))).numpy(), SUMS, 30)]


linear_alias("linear", lambda y: y)
linear_alias("fused_linear_relu", torch.relu)
linear_alias("fused_linear_gelu", F.gelu)
linear_alias("fused_matmul_relu", torch.relu, in_out=True)


@peer("softmax", "torch")
def softmax(rng):
    x = rng.normal(0, 10.0 ** rng.integers(-1, 3), shape(rng, 3))
    return [Pair(kolmo.softmax(x), torch.softmax(t(x), -1).numpy(), 1e-13, 1e-3)]


@peer("layer_norm", "torch")
def layer_norm(rng):
    x = rng.normal(size=shape(rng))
    scale, shift, f = rng.normal(size=x.shape[-1]), rng.normal(size=x.shape[-1]), pick(rng, "none", "relu", "gelu")
    want = activation(f)(F.layer_norm(t(x), x.shape[-1:], t(scale), t(shift), 1e-5)).numpy()
    return [Pair(kolmo.layer_norm(x, scale, shift, activation=f), want, SUMS)]


@peer("fused_layernorm_gelu", "torch")
def fused_layernorm_gelu(rng):
    x = rng.normal(size=shape(rng))
    return [Pair(kolmo.fused_layernorm_gelu(x), F.gelu(F.layer_norm(t(x), x.shape[-1:])).numpy(), SUMS)]


@peer("fused_exp_normalize", "torch")
def fused_exp_normalize(rng):
    x = rng.normal(size=shape(rng))
    return [Pair(kolmo.fused_exp_normalize(x), torch.softmax(t(x), -1).numpy(), 1e-13)]


@peer("normalize", "torch")
def normalize(rng):
    x, (norm, p) = rng.normal(size=shape(rng)), pick(rng, ("l1", 1), ("l2", 2), ("max", np.inf))
    return [Pair(kolmo.normalize(x, norm=norm), F.normalize(t(x), p=p, dim=-1, eps=0).numpy(), SUMS)]


@peer("batch_norm", "torch")
def batch_norm(rng):
    x = rng.normal(size=(int(rng.integers(2, 6)), int(rng.integers(1, 5)), int(rng.integers(1, 9))))
    channels, training = x.shape[1], bool(rng.integers(2))
    mean, variance = rng.normal(size=channels), rng.random(channels) + 0.5
    scale, shift = rng.normal(size=channels), rng.normal(size=channels)
    running = [t(mean.copy()), t(variance.copy())]
    want = F.batch_norm(t(x), *running, t(scale), t(shift), training, 0.1, 1e-5).numpy()
    got = kolmo.batch_norm(x, running_mean=mean, running_variance=variance, scale=scale, shift=shift, training=training, momentum=0.1, eps=1e-5)
    return [Pair(got, want, SUMS), Pair(mean, running[0].numpy(), SUMS), Pair(variance, running[1].numpy(), SUMS)]


@peer("conv2d", "torch")
def conv2d(rng):
    groups, (stride, padding, dilation) = int(rng.integers(1, 3)), rng.integers([1, 0, 1], [3, 3, 3])
    x = rng.normal(size=(2, 2 * groups, int(rng.integers(7, 12)), int(rng.integers(7, 12))))
    w = rng.normal(size=(3 * groups, 2, int(rng.integers(1, 4)), int(rng.integers(1, 4))))
    b = rng.normal(size=3 * groups)
    sizes = {"stride": [int(stride)] * 2, "padding": [int(padding)] * 2, "dilation": [int(dilation)] * 2}
    return [Pair(kolmo.conv2d(x, w, b, groups=groups, **sizes), F.conv2d(t(x), t(w), t(b), groups=groups, **sizes).numpy(), SUMS, 10)]


@peer("fused_conv_relu", "torch")
def fused_conv_relu(rng):
    x, w = rng.normal(size=(2, 3, 8, 9)), rng.normal(size=(4, 3, 3, 3))
    return [Pair(kolmo.fused_conv_relu(x, w, padding=[1]), F.relu(F.conv2d(t(x), t(w), padding=1)).numpy(), SUMS, 10)]


@peer("fused_batchnorm_relu", "torch")
def fused_batchnorm_relu(rng):
    x, mean, variance = rng.normal(size=(4, 3, 5)), rng.normal(size=3), rng.random(3) + 0.5
    got = kolmo.fused_batchnorm_relu(x, running_mean=mean, running_variance=variance)
    return [Pair(got, F.relu(F.batch_norm(t(x), t(mean), t(variance))).numpy(), SUMS)]


@peer("embedding_lookup", "torch")
def embedding_lookup(rng):
    table = rng.normal(size=shape(rng))
    index = rng.integers(0, len(table), shape(rng))
    return [Pair(kolmo.embedding_lookup(table, index), F.embedding(t(index), t(table)).numpy())]


@peer("top_k_sampling", "torch")
def top_k_sampling(rng):
    logits, k, temperature = rng.normal(size=(3, int(rng.integers(4, 60)))), int(rng.integers(1, 5)), float(rng.random() + 0.5)
    got = kolmo.top_k_sampling(logits, top_k=k, temperature=temperature, n=20, seed=int(rng.integers(1000)), probability=True)
    top = torch.topk(t(logits), k)
    allowed = torch.full_like(t(logits), -torch.inf).scatter(-1, top.indices, top.values)
    want = torch.softmax(allowed / temperature, -1).gather(-1, t(got.index)).numpy()
    return [Pair(got.probability, want, 5 * 2**-41)]  # weights are rounded to 2^-41 of the largest, of at most 5


@peer("adamw_step", "torch")
def adamw_step(rng):
    n = int(rng.integers(1, 200))
    options = dict(lr=10.0 ** rng.uniform(-4, -1), betas=(rng.uniform(0.5, 0.95), rng.uniform(0.9, 0.999)), eps=1e-8,
                   weight_decay=rng.uniform(0, 0.3))
    want = torch.nn.Parameter(t(rng.normal(size=n)))
    optimizer = torch.optim.AdamW([want], **options)
    w, m, v = want.detach().numpy().copy(), np.zeros(n), np.zeros(n)
    for step in range(1, 6):
        gradient = rng.normal(size=n)
        want.grad = t(gradient)
        optimizer.step()
        kolmo.adamw_step(gradient, w, m, v, rate=options["lr"], beta1=options["betas"][0], beta2=options["betas"][1],
                         epsilon=options["eps"], weight_decay=options["weight_decay"], step=step)
    kept = optimizer.state[want]
    return [Pair(w, want.detach().numpy(), FUNCTIONS, 30), Pair(m, kept["exp_avg"].numpy(), FUNCTIONS),
            Pair(v, kept["exp_avg_sq"].numpy(), FUNCTIONS)]


@peer("weights_average", "torch")
def weights_average(rng):
    from torch.optim.swa_utils import AveragedModel, get_ema_avg_fn

    n, decay = int(rng.integers(1, 200)), rng.uniform(0.0, 0.5)
    model = torch.nn.Linear(n, 1, bias=False).double()
    mean, moving = AveragedModel(model), AveragedModel(model, avg_fn=get_ema_avg_fn(decay))
    got = np.zeros((2, n))
    for step in range(1, 9):
        with torch.no_grad():
            model.weight.copy_(t(rng.normal(size=(1, n))))
        mean.update_parameters(model), moving.update_parameters(model)
        kolmo.weights_average(model.weight.detach().numpy()[0], np.array([True, False]), np.array([0.0, decay]), got, step=step)
    # A decay up to 1/2 is at least the 1 - 1/k of every step but the first, whose average is the weights, as in PyTorch.
    return [Pair(got[0], mean.module.weight.detach().numpy()[0], FUNCTIONS, 30),
            Pair(got[1], moving.module.weight.detach().numpy()[0], FUNCTIONS, 30)]


@peer("weights_gram", "numpy")
def weights_gram(rng):
    m, n = int(rng.integers(1, 12)), int(rng.integers(1, 5000))
    w = rng.normal(size=(m, n))
    d = w - w[-1]
    return [Pair(kolmo.weights_gram(w), w @ w.T, SUMS, 100), Pair(kolmo.weights_gram(w, base=w[-1]), d @ d.T, SUMS, 100)]
