"""A callback for Lightning. The module's `SelfPacedLoss` gets the index of the rows in `training_step`."""

from lightning.pytorch.callbacks import Callback

from mlspl.torch.loss import SelfPacedLoss

__all__ = ["EndEpoch"]


class EndEpoch(Callback):
    """Moves the pace of every `SelfPacedLoss` in the module after each epoch."""

    def on_train_epoch_end(self, trainer, pl_module):
        """Call ``end_epoch`` of the losses."""
        for module in pl_module.modules():
            if isinstance(module, SelfPacedLoss):
                module.end_epoch()
