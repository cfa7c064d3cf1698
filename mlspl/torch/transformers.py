"""A mixin for `transformers.Trainer`. Items of the training set have the keys ``labels`` and ``index``."""

from transformers import TrainerCallback

__all__ = ["SelfPacedTrainerMixin"]


class _EndEpoch(TrainerCallback):
    def __init__(self, loss) -> None:
        self.loss = loss

    def on_epoch_end(self, args, state, control, **kwargs):
        self.loss.end_epoch()


class SelfPacedTrainerMixin:
    """Computes the loss of a `Trainer` by a `SelfPacedLoss`.

    ``class PacedTrainer(SelfPacedTrainerMixin, Trainer)`` takes it as the keyword ``paced_loss``. Set
    ``remove_unused_columns=False`` in its arguments, so that the index is kept.
    """

    def __init__(self, *args, paced_loss, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.paced_loss = paced_loss
        # The loss is a mean over the batch: the trainer divides it by the accumulated batches.
        self.model_accepts_loss_kwargs = False
        self.add_callback(_EndEpoch(paced_loss))  # type: ignore[attr-defined]

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        """Compute the loss of a batch; in evaluation it is not paced."""
        inputs = dict(inputs)
        labels, index = inputs.pop("labels"), inputs.pop("index", None)
        outputs = model(**inputs)
        self.paced_loss.train(model.training)
        loss = self.paced_loss(outputs.logits, labels, index)
        return (loss, outputs) if return_outputs else loss
