"""The first two rungs of the ladder for predictive training: XOR, and scikit-learn's digits with an MLP and a CNN, on the CPU."""
import math
import time

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))


def cnn():
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
                         nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10))


class OnCpu:
    """What the tasks have in common: a clock that other work on the machine changes little, and gradients."""

    clock = staticmethod(time.process_time)

    def wait(self):
        """Does nothing: all is done when a call of PyTorch returns."""

    def gradients(self, model, seed):
        """A function of the step that sets all gradients and returns the loss."""
        def work(step):
            loss = self.loss(model, seed, step)
            model.zero_grad()
            loss.backward()
            return loss
        return work


class Digits(OnCpu):
    """1797 pictures of 8 x 8 with values from 0 to 1: 1200 to train on, shifted by up to a pixel and with noise of 0.3, and 597 to
    validate on. A batch has 64 pictures. Batches depend on the seed and the step only."""

    def __init__(self, name):
        self.name, self.make = name, {"mlp": mlp, "cnn": cnn}[name]
        data = load_digits()
        order = torch.randperm(1797, generator=torch.Generator().manual_seed(1))
        x = torch.tensor(data.images, dtype=torch.float32)[order, None] / 16
        y = torch.tensor(data.target)[order]
        self.x, self.y, self.xv, self.yv = x[:1200], y[:1200], x[1200:], y[1200:]

    def model(self, seed):
        torch.manual_seed(1000 + seed)
        return self.make()

    def loss(self, model, seed, step):
        g = torch.Generator().manual_seed(100_000 * (seed + 1) + step)
        rows = torch.randint(1200, (64,), generator=g)
        shift = torch.randint(-1, 2, (2,), generator=g).tolist()
        x = torch.roll(self.x[rows], shift, (2, 3)) + 0.3 * torch.randn(64, 1, 8, 8, generator=g)
        return functional.cross_entropy(model(x), self.y[rows])

    @torch.no_grad()
    def validation(self, model):
        model.eval()
        value = float(functional.cross_entropy(model(self.xv), self.yv))
        model.train()
        return value


class Xor(OnCpu):
    """16 noisy points of XOR a batch. For correctness: a step takes as long as the calls of PyTorch for it."""

    name = "xor"

    def model(self, seed):
        torch.manual_seed(1000 + seed)
        return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))

    def _loss(self, model, seed, count):
        g = torch.Generator().manual_seed(seed)
        corners = torch.randint(2, (count, 2), generator=g)
        x = corners + 0.35 * torch.randn(count, 2, generator=g)
        return functional.binary_cross_entropy_with_logits(model(x)[:, 0], (corners[:, 0] ^ corners[:, 1]).float())

    def loss(self, model, seed, step):
        return self._loss(model, 100_000 * (seed + 1) + step, 16)

    @torch.no_grad()
    def validation(self, model):
        return float(self._loss(model, 7, 1000))


def constant(step, total, warm):
    return min(1.0, (step + 1) / warm)


def cosine(step, total, warm):
    return constant(step, total, warm) * 0.5 * (1 + math.cos(math.pi * min(1, max(0, step - warm) / max(1, total - warm))))


def stable_decay(share):
    """Warm-up, constant, and linearly to 0 within the last `share` of the steps."""
    def factor(step, total, warm):
        return constant(step, total, warm) * min(1.0, (total - step) / (share * total)) if step < total else 0.0
    return factor


def decay_at(start, length):
    def factor(step, total, warm):
        return constant(step, total, warm) * (1.0 if step < start else max(0.0, 1 - (step - start) / length))
    return factor
