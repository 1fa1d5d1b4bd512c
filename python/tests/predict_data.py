"""What the tests of kolmo.predict share: XOR, a small training, and a forecaster whose answers are known."""
from types import SimpleNamespace

import numpy as np
import torch

X = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).repeat(8, 1)
Y = torch.tensor([0.0, 1.0, 1.0, 0.0]).repeat(8)


def net(seed=1):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))


def loss_of(model, rows=slice(None)):
    return torch.nn.functional.binary_cross_entropy_with_logits(model(X[rows])[:, 0], Y[rows])


def xor_step(model, optimizer, watch=None, batch=16):
    loss = loss_of(model, torch.randint(len(X), (batch,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if watch is not None:
        watch.step(loss)
    return loss.item()


def weights(model):
    return [p.detach().clone() for p in model.parameters()]


def same(a, b):
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def forecaster(hold=lambda ahead: 1.0, decayed=lambda ahead, length: 1.0, spread=0.01):
    """Says hold(steps ahead) for constant rates and decayed(steps ahead, length) for those that fall; the 5 and 95 % quantiles are
    `spread` away."""
    def forecast(log, *, plan, horizon, target=None, store=None):
        plan = np.asarray(plan, float)
        assert len(plan) == horizon and {"step", "loss", "rate"} <= set(log)
        falls = int((plan < plan[0]).sum()) + 1 if plan[-1] < plan[0] else 0
        ahead = np.arange(1, horizon + 1)
        median = np.array([decayed(a, falls) if falls else hold(a) for a in ahead], float)
        return SimpleNamespace(step=log["step"][-1] + ahead, median=median, driver="test", plan=plan,
                               quantiles=median[:, None] + spread / 0.45 * (np.arange(1, 20) / 20 - 0.5))
    return forecast


class Cursor:
    """The place in the data: a seed for each batch."""

    def __init__(self):
        self.place = 0

    def next(self):
        self.place += 1
        torch.manual_seed(self.place)

    def state_dict(self):
        return {"place": self.place}

    def load_state_dict(self, state):
        self.place = state["place"]
