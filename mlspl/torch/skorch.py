"""A callback for skorch, whose criterion is a `SelfPacedLoss`. Rows are items (x, (targets, index))."""

from skorch.callbacks import Callback

__all__ = ["EndEpoch"]


class EndEpoch(Callback):
    """Moves the pace of the criterion after each epoch."""

    def on_epoch_end(self, net, **kwargs):
        """Call ``end_epoch`` of the criterion."""
        net.criterion_.end_epoch()
