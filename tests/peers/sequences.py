"""Attention, rotary positions and recurrent cells beside PyTorch, which computes in f64 from the same inputs, whatever their dtype."""
from __future__ import annotations

import kolmo
import numpy as np
import torch
import torch.nn.functional as F

from peers import Pair, peer
from peers.neural import SUMS, pick, shape, t

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
# Weighted means of values: weights and the result are rounded to 2^-11 (f16) or 2^-8 (bf16) of themselves, as is the sum of the weights;
# scores of up to 24 products in float, sum |q k| / sqrt d below 10, are within 24 x 2^-24 x 10, and so are the weights.
MEANS = {torch.float64: SUMS, torch.float32: 1.5e-5, torch.float16: 2**-10, torch.bfloat16: 2**-7}
# Two products, their sum and its rounding, for numbers with 53, 24, 11 and 8 bits.
ROTATIONS = {torch.float64: 2**-51, torch.float32: 2**-22, torch.float16: 2**-10, torch.bfloat16: 2**-7}


def sees(rng, batch, s, keys, causal):
    """A random mask of keys, of padding or for each query, or none; and which keys each query sees with it."""
    kind = pick(rng, "none", "padding", "queries")
    mask = {"none": None, "padding": np.arange(keys) < rng.integers(0, keys + 1, (batch, 1, 1)), "queries": rng.random((batch, s, keys)) < 0.7}[kind]
    below = np.tri(s, keys, {"none": keys, "upper_left": 0, "lower_right": keys - s}[causal], bool)
    return mask, below if mask is None else below & mask


@peer("attention", "torch")
def attention(rng):
    batch, groups, share = (int(n) for n in rng.integers(1, 4, 3))
    (s, keys), d, dtype = shape(rng), 8 * int(rng.integers(1, 4)), pick(rng, *DTYPES)
    causal, scale = pick(rng, "none", "upper_left", "lower_right"), pick(rng, None, float(rng.uniform(0.01, 0.3)))
    q, k, v = (t(rng.normal(size=(batch, heads, length, d))).to(dtype) for heads, length in ((groups * share, s), (groups, keys), (groups, keys)))
    mask, seen = sees(rng, batch, s, keys, causal)
    seen = t(np.broadcast_to(seen, (batch, s, keys)))[:, None]
    want = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), seen, scale=scale, enable_gqa=True)
    want = torch.where(seen.any(-1, keepdim=True), want, 0)  # a query that sees no key
    pairs = []
    for layout, order in (("heads_first", (0, 1, 2, 3)), ("heads_last", (0, 2, 1, 3))):
        laid = [x.permute(order).contiguous() for x in (q, k, v)]
        got = kolmo.attention(*laid, mask=mask, causal=causal, layout=layout, scale=scale).permute(order)
        pairs.append(Pair(got.double().numpy(), want.numpy(), MEANS[dtype], float(v.abs().max())))
    return pairs


@peer("fused_attention_softmax", "torch")
def fused_attention_softmax(rng):
    q, k, v = (rng.normal(size=(2, 5, 16)) for _ in range(3))
    return [Pair(kolmo.fused_attention_softmax(q, k, v), F.scaled_dot_product_attention(t(q), t(k), t(v)).numpy(), SUMS)]


@peer("multi_head_attention", "torch")
def multi_head_attention(rng):
    heads, s, keys, e = int(rng.integers(1, 4)), int(rng.integers(1, 12)), int(rng.integers(1, 12)), 4
    e *= heads
    m = torch.nn.MultiheadAttention(e, heads, batch_first=True, dtype=torch.float64)
    q, k, causal = rng.normal(size=(2, s, e)), rng.normal(size=(2, keys, e)), pick(rng, "none", "upper_left", "lower_right")
    mask, seen = sees(rng, 2, s, keys, causal)
    seen = np.broadcast_to(seen, (2, s, keys))
    with torch.no_grad():
        torch.nn.init.normal_(m.in_proj_bias), torch.nn.init.normal_(m.out_proj.bias)
        hidden = t(~seen | ~seen.any(-1, keepdims=True)).repeat_interleave(heads, 0)  # 1 where a key is ignored
        want = m(t(q), t(k), t(k), need_weights=False, attn_mask=hidden)[0]
        want = torch.where(t(seen.any(-1, keepdims=True)), want, m.out_proj.bias).numpy()
    weights = [p.detach().numpy() for p in (m.in_proj_weight, m.out_proj.weight, m.in_proj_bias, m.out_proj.bias)]
    return [Pair(kolmo.multi_head_attention(q, k, k, *weights, mask=mask, heads=heads, causal=causal), want, SUMS)]


@peer("rope_encoding", "torch")
def rope_encoding(rng):
    s, d, dtype, pairs = int(rng.integers(1, 20)), 2 * int(rng.integers(1, 20)), pick(rng, *DTYPES), pick(rng, "interleaved", "halves")
    theta, offset, position = float(10 ** rng.uniform(1, 6)), int(rng.integers(0, 100_000)), pick(rng, None, rng.integers(0, 1000, s))
    x, places = t(rng.normal(size=(3, s, d))).to(dtype), t(np.arange(s) if position is None else position) + offset
    angle = places.double()[:, None] * theta ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    if pairs == "interleaved":  # rotates pairs as complex numbers
        turned = torch.view_as_complex(x.double().reshape(3, s, d // 2, 2)) * torch.polar(torch.ones_like(angle), angle)
        want = torch.view_as_real(turned).reshape(3, s, d)
    else:  # x cos + (-upper half, lower half) sin, as Llama does it
        lower, upper = x.double().chunk(2, -1)
        want = x.double() * angle.cos().repeat(1, 2) + torch.cat([-upper, lower], -1) * angle.sin().repeat(1, 2)
    got = kolmo.rope_encoding(x, position=position, theta=theta, offset=offset, pairs=pairs)
    angles = float(places.max()) * 2**-51  # the angles of both sides err by 2^-52 of themselves
    return [Pair(got.double().numpy(), want.numpy(), ROTATIONS[dtype] + angles, float(x.abs().max()))]


def cell_problem(rng, gates):
    b, k, n = shape(rng, 3, 20)
    return [rng.normal(size=s) for s in ((b, k), (b, n), (b, n), (gates * n, k), (gates * n, n), (gates * n,), (gates * n,))]


def gru_before(x, h, w, v, b, c):
    """torch has the reset gate after the product alone; this is Cho's, before it."""
    n = h.shape[-1]
    r, z = torch.sigmoid(F.linear(x, w[:2 * n], b[:2 * n]) + F.linear(h, v[:2 * n], c[:2 * n])).chunk(2, -1)
    candidate = torch.tanh(F.linear(x, w[2 * n:], b[2 * n:]) + F.linear(r * h, v[2 * n:], c[2 * n:]))
    return (1 - z) * candidate + z * h


GRU = {"after": torch.gru_cell, "before": gru_before}


@peer("lstm_cell", "torch")
def lstm_cell(rng):
    x, h, c, *weights = cell_problem(rng, 4)
    want = torch.lstm_cell(t(x), (t(h), t(c)), *map(t, weights))
    got = kolmo.lstm_cell(x, h, c, *weights)
    return [Pair(got.h_next, want[0].numpy(), SUMS), Pair(got.c_next, want[1].numpy(), SUMS)]


@peer("gru_cell", "torch")
def gru_cell(rng):
    x, h, _, *weights = cell_problem(rng, 3)
    return [Pair(kolmo.gru_cell(x, h, *weights, reset=reset), cell(t(x), t(h), *map(t, weights)).numpy(), SUMS) for reset, cell in GRU.items()]


@peer("gru_forward", "torch")
def gru_forward(rng):
    steps, k, n = shape(rng, 3, 20)
    m = torch.nn.GRU(k, n, batch_first=True, dtype=torch.float64)
    x, h = rng.normal(size=(2, steps, k)), rng.normal(size=(2, n))
    weights = [p.detach() for p in (m.weight_ih_l0, m.weight_hh_l0, m.bias_ih_l0, m.bias_hh_l0)]
    with torch.no_grad():
        states, last = m(t(x), t(h)[None])
    own, before = t(h), []
    for i in range(steps):
        own = gru_before(t(x[:, i]), own, *weights)
        before.append(own)
    pairs = []
    for reset, want, end in (("after", states, last[0]), ("before", torch.stack(before, 1), own)):
        got = kolmo.gru_forward(x, h, *(w.numpy() for w in weights), last=True, reset=reset)
        pairs += [Pair(got.states, want.numpy(), SUMS), Pair(got.last, end.numpy(), SUMS)]
    return pairs


@peer("gru_backward", "torch")
def gru_backward(rng):
    steps, k, n = shape(rng, 3, 12)
    shapes = ((2, steps, k), (2, n), (3 * n, k), (3 * n, n), (3 * n,), (3 * n,))
    scale = (1, 1, *[n**-0.5] * 4)
    x, h, *weights = values = [t(s * rng.normal(size=size)).requires_grad_() for s, size in zip(scale, shapes)]
    of_states, of_last = t(rng.normal(size=(2, steps, n))), t(rng.normal(size=(2, n)))
    pairs = []
    for reset, cell in GRU.items():
        states = [h]
        for i in range(steps):
            states.append(cell(x[:, i], states[-1], *weights))
        states = torch.stack(states[1:], 1)
        want = torch.autograd.grad((states * of_states).sum() + (states[:, -1] * of_last).sum(), values)
        u, v, w_ih, w_hh, b_ih, b_hh = (value.detach().numpy() for value in values)
        got = kolmo.gru_backward(u, v, w_ih, w_hh, states.detach().numpy(), of_states.numpy(), b_ih, b_hh, of_last.numpy(), grad_bias_ih=True,
                                 grad_bias_hh=True, reset=reset)
        results = (got.grad_x, got.grad_h, got.grad_weight_ih, got.grad_weight_hh, got.grad_bias_ih, got.grad_bias_hh)
        pairs += [Pair(g, w.numpy(), SUMS, 30) for g, w in zip(results, want)]
    return pairs


@peer("rssm_rollout", "torch")
def rssm_rollout(rng):
    (m, k, n, c, q), steps, reset = shape(rng, 5, 9), int(rng.integers(2, 12)), pick(rng, *GRU)
    features, h, a, b, plan = rng.random(k), rng.normal(size=(m, n)), rng.normal(size=(m, n)), rng.normal(size=(m, c)), rng.normal(size=(steps, q))
    w, v, b_ih, b_hh, w_plan, w_latent = (rng.normal(size=s) for s in ((m, 3 * n, k), (m, 3 * n, n), (m, 3 * n), (m, 3 * n), (m, 3 * n, q),
                                                                       (m, 3 * n, c)))
    planned, fed_back = (bool(flag) for flag in rng.integers(2, size=2))
    state, loss, places = t(h), torch.full((m,), features[0], dtype=torch.float64), torch.arange(c) * n // c
    losses, norms, entropies = [loss], [], []
    all_w = t(np.concatenate([w, w_plan * planned, w_latent * fed_back], 2))
    p = torch.softmax(state[:, places], -1)
    for step in range(steps):
        x = torch.cat([loss[:, None], t(features[1:]).expand(m, -1), t(plan[step]).expand(m, -1), p], 1)
        state = torch.cat([GRU[reset](x[i:i + 1], state[i:i + 1], all_w[i], *(t(y[i]) for y in (v, b_ih, b_hh))) for i in range(m)])
        p = torch.softmax(state[:, places], -1)
        loss = ((state * t(a)).sum(-1) + (p * t(b)).sum(-1)).clamp(-10, 10).exp()
        losses.append(loss), norms.append(state.norm(dim=-1)), entropies.append(torch.special.entr(p).sum(-1))
    more = {**({"controls": plan, "weight_controls": w_plan} if planned else {"steps": steps}), **({"weight_latent": w_latent} if fed_back else {})}
    all_losses = torch.stack(losses, 1)
    want, got = all_losses[:, 1:], kolmo.rssm_rollout(features, h, w, v, a, b, b_ih, b_hh, reset=reset, last=True, **more)
    pairs = [(got.loss, want), (got.step_deltas, all_losses.diff(dim=1).abs()), (got.hidden_norms, torch.stack(norms, 1)),
             (got.entropy, torch.stack(entropies, 1)), (got.variance, all_losses.var(1, correction=0)), (got.mean, want.mean(0)),
             (got.smoothness, all_losses.diff(n=2, dim=1).abs().mean(1)), (got.spread, want.var(0, correction=0)), (got.last, state)]
    return [Pair(own, theirs.numpy(), 1e-9, float(theirs.abs().max())) for own, theirs in pairs]  # steps may amplify rounding errors
