"""A :class:`Watch` as a callback of Hugging Face: ``Trainer(callbacks=[kolmo.predict.transformers.WatchCallback()])``."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from kolmo.predict.watch import Watch

_FILE = "kolmo_watch.pt"


class WatchCallback(TrainerCallback):
    """The loss is that which the model returns for its labels: the mean over accumulated batches, or their sum where the trainer divides
    by the items of all of them. Arguments are those of :class:`Watch`; with ``control=True`` a decision that ends the training ends
    ``Trainer.train``. Checkpoints hold the watch's state. To evaluate averaged weights: ``with callback.watch.averaged(): trainer.evaluate()``,
    which also reports ``eval_loss``. The trainer clips gradients, so norms are those after clipping."""

    def __init__(self, **options: Any):
        self._options = options
        self.watch: Watch | None = None
        self._losses: list[torch.Tensor] = []
        self._summed = False
        self._hook: Any = None

    def _keep_loss(self, module: torch.nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        loss = output.get("loss") if isinstance(output, dict) else None
        if module.training and isinstance(loss, torch.Tensor):
            self._losses.append(loss.detach())
            self._summed = kwargs.get("num_items_in_batch") is not None

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        model = given["model"]
        self._hook = model.register_forward_hook(self._keep_loss, with_kwargs=True)
        schedules = [s for s in (given.get("lr_scheduler"),) if s is not None]
        if self.watch is not None:  # of a training before, with the same optimizer
            self.watch.close()
        self.watch = Watch(given["optimizer"], **{"model": model, "state": schedules, **self._options})
        saved = Path(args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}" / _FILE
        if state.global_step and saved.is_file():
            self.watch.load_state_dict(torch.load(saved, weights_only=True))

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        if self.watch is None or not self._losses:
            return
        for loss in self._losses:
            self.watch.add(loss * len(self._losses) if self._summed else loss)
        self._losses = []
        self.watch.step()
        if self.watch.done and self.watch.controller.control:
            control.should_training_stop = True

    def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        loss = given.get("metrics", {}).get("eval_loss")
        if self.watch is not None and loss is not None:
            self.watch.validated(loss)

    def on_save(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        folder = Path(args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}"
        if self.watch is not None and state.is_world_process_zero and folder.is_dir():
            beside = folder / (_FILE + ".partial")
            torch.save(self.watch.state_dict(), beside)
            beside.replace(folder / _FILE)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
