"""A :class:`Watch` as a callback of Lightning: ``Trainer(callbacks=[kolmo.predict.lightning.WatchCallback()])``."""
from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch
from lightning.pytorch import Callback, LightningModule, Trainer

from kolmo._kolmo import InvalidArgument
from kolmo.predict.watch import Watch


class WatchCallback(Callback):
    """Watches the first optimizer. Validation runs with averaged weights if ``validate_average`` names an average (True: the first), and
    ``monitor`` is the logged loss that is reported. Other arguments are those of :class:`Watch`; with ``control=True`` a decision that
    ends the training ends ``Trainer.fit``. Checkpoints hold the watch's state. With manual optimization call ``callback.watch.step``."""

    def __init__(self, *, monitor: str = "val_loss", validate_average: bool | str = False, **options: Any):
        self.monitor, self.validate_average, self._options = monitor, validate_average, options
        self.watch: Watch | None = None
        self._stack, self._state, self._step = ExitStack(), dict[str, Any](), 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if len(trainer.optimizers) != 1:
            raise InvalidArgument(f"kolmo.predict.lightning: {len(trainer.optimizers)} optimizers; a watch is around one, so make a Watch for each")
        if self.watch is not None:  # of a fit before
            self.watch.close()
        self.watch = Watch(trainer.optimizers[0], model=pl_module, **self._options)
        if self._state:
            self.watch.load_state_dict(self._state)
        self._step = trainer.global_step

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int) -> None:
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if self.watch is None or not isinstance(loss, torch.Tensor):
            return
        self.watch.add(loss * trainer.accumulate_grad_batches)  # Lightning divides it
        if trainer.global_step > self._step:
            self._step = trainer.global_step
            self.watch.step()
            if self.watch.done and self.watch.controller.control:
                trainer.should_stop = True

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self.watch is not None and self.watch.averages is not None and self.validate_average:
            self._stack.enter_context(self.watch.averaged(self.validate_average if isinstance(self.validate_average, str) else None))

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        loss = trainer.callback_metrics.get(self.monitor)
        if self.watch is not None and not trainer.sanity_checking and loss is not None:
            self.watch.validated(loss)
        self._stack.close()

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        self._stack.close()

    def on_save_checkpoint(self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]) -> None:
        """In validation with averaged weights, the checkpoint has those, as it has them while they are validated."""
        if self.watch is not None:
            checkpoint["kolmo.predict"] = self.watch.state_dict()

    def on_load_checkpoint(self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]) -> None:
        self._state = checkpoint.get("kolmo.predict", {})
