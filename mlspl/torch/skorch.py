"""A callback for skorch. The criterion is a `SelfPacedLoss`, the training set an `IndexedDataset`."""

from skorch.callbacks import Callback

__all__ = ["EndEpoch"]


class EndEpoch(Callback):
    """Moves the pace of the criterion after each epoch."""

    def on_epoch_end(self, net, **kwargs):
        """Call ``end_epoch`` of the criterion."""
        net.criterion_.end_epoch()
