"""`SelfPacedLoss`: a multi-label loss that learns the easy (instance, label) pairs first."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from sklearn.utils import gen_batches
from torch import Tensor, distributed, nn
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from mlspl import pacing
from mlspl.errors import UserError
from mlspl.pacing import PaceSchedule, QuantilePace, SelfPacedFunction, Trace

PairLoss = Callable[[Tensor, Tensor], Tensor]
_cross_entropy = partial(binary_cross_entropy_with_logits, reduction="none")
_LARGEST = 6e4  # of half precision: 65504


def focal_loss(logits: Tensor, targets: Tensor, gamma: float = 2.0) -> Tensor:
    """Return (1 − p_t)^γ · (−ln p_t), where p_t is the probability of the given label: Lin et al. 2017."""
    losses = _cross_entropy(logits, targets)
    return (1.0 - torch.exp(-losses)) ** gamma * losses


def focal_margin_loss(logits: Tensor, targets: Tensor, gamma: float = 2.0, margin: float = 1.0) -> Tensor:
    """Return the focal loss, with logits of positives reduced by a margin: Zhang et al. 2021."""
    return focal_loss(logits - margin * targets, targets, gamma)


def asymmetric_loss(
    logits: Tensor, targets: Tensor, positive: float = 0.0, negative: float = 4.0, margin: float = 0.05
) -> Tensor:
    """Return the asymmetric loss (ASL) of each pair: Ridnik et al. 2021, equations 4 to 7.

    −(1 − p)^γ₊ ln p of a positive, and −q^γ₋ ln(1 − q) of a negative, with q = max(p − margin, 0).
    """
    p = torch.sigmoid(logits)
    q = (p - margin).clamp(min=0.0)
    of_negatives = -(q**negative) * torch.log1p(-q)
    return torch.where(targets > 0, -((1.0 - p) ** positive) * logsigmoid(logits), of_negatives)


_LOSSES: dict[str, PairLoss] = {
    "bce": _cross_entropy,
    "asymmetric": asymmetric_loss,
    "focal": focal_loss,
    "focal-margin": focal_margin_loss,
}


@dataclass(frozen=True)
class _NegativesPace(PaceSchedule):
    """One pace for all negatives: `bound`, or that of the largest losses, a share that grows by `step`."""

    step: float = 1.0
    bound: float | None = None

    @property
    def targets(self) -> tuple[float, ...]:
        return tuple((self.step * np.arange(1, max(int(1.0 / self.step), 2))).tolist())

    def pace(self, target, losses, Y, known=None):
        negative, pace = np.asarray(Y) <= 0, self.bound
        if pace is None:
            ranked = np.sort(losses[negative if known is None else negative & known])
            n_large = min(math.ceil(target * losses.size), len(ranked))
            # `Hard` leaves out equal losses, too.
            pace = ranked[len(ranked) - n_large] if n_large else np.inf
        return np.where(negative, pace, np.inf)


class SelfPacedLoss(nn.Module):
    """A loss for logits (n, L) that weights each (instance, label) pair by how easy it is.

    With `shape`, a running mean of each training pair's loss over the epochs is kept. At the end of each
    epoch, the schedule turns these losses into a pace, and the self-paced function turns both into weights
    for the next epoch. Without `shape`, pace and weights come from the losses of each batch. The gradient
    does not pass through the weights. In evaluation mode (``loss.eval()``) every known pair has the weight 1.

    With several processes (DistributedDataParallel), each keeps the losses of its rows; `end_epoch` merges
    them, so every process must call it. The state is part of ``state_dict``; it moves to the device of the
    logits. Losses are computed in single precision under autocast.

    Parameters
    ----------
    shape : tuple (n_samples, n_labels), optional
        Shape of the training labels. The memory takes 6 bytes per pair, and 10 more with `keep_trace`.
    base : {"bce", "asymmetric", "focal", "focal-margin"} or callable, default="bce"
        The loss of each pair. A callable takes logits and targets of 0 and 1, and returns losses (n, L), 0 or
        more; for instance ``functools.partial(asymmetric_loss, negative=2.0)``.
    pace_function : str, SelfPacedFunction or None, default="gaussian"
        The self-paced function; None weights every pair 1.
    schedule : schedule of :mod:`mlspl.pacing`, optional
        The pace of each epoch after `warm_up`; the last one stays. By default the 0.7 quantile of the losses
        of each label and class. ``NoisePace(…, falling=True)`` goes down to the share of right labels.
    warm_up : int, default=1
        Epochs in which every pair has the weight 1.
    momentum : float, default=0.7
        Share of the earlier losses in the running mean.
    flip : bool, default=False
        Whether a pair of weight v is also learned as its opposite label, with the weight 1 − v.
    reduction : {"mean", "sum", "none"}, default="mean"
        The mean is over the known pairs.
    keep_trace : bool, default=True
        Whether :meth:`trace` is recorded, if there is a `shape`.

    Examples
    --------
    >>> import torch
    >>> from mlspl.torch import SelfPacedLoss
    >>> loss = SelfPacedLoss(shape=(4, 1), pace_function="hard")
    >>> logits = torch.tensor([[3.0], [2.0], [1.0], [-4.0]], requires_grad=True)
    >>> targets = torch.ones(4, 1)
    >>> for epoch in range(2):
    ...     print(round(loss(logits, targets, torch.arange(4)).item(), 3))
    ...     loss.end_epoch()
    1.127
    0.122
    """

    def __init__(
        self,
        shape: tuple[int, int] | None = None,
        *,
        base: str | PairLoss = "bce",
        pace_function: str | SelfPacedFunction | None = "gaussian",
        schedule: PaceSchedule | None = None,
        warm_up: int = 1,
        momentum: float = 0.7,
        flip: bool = False,
        reduction: str = "mean",
        keep_trace: bool = True,
    ) -> None:
        super().__init__()
        if not callable(base) and base not in _LOSSES:
            raise UserError(f"base is {base!r}. Give one of {', '.join(_LOSSES)}, or a function.")
        if reduction not in ("mean", "sum", "none"):
            raise UserError(f"reduction is {reduction!r}. Give 'mean', 'sum' or 'none'.")
        if not 0 <= momentum < 1:
            raise UserError(f"momentum is {momentum!r}. Give a number from 0 to below 1.")
        self.base: PairLoss = base if callable(base) else _LOSSES[base]
        self.pace_function = None if pace_function is None else pacing.get(pace_function)
        self.schedule = QuantilePace(0.7, 0.7, 1) if schedule is None else schedule
        self.warm_up, self.momentum, self.flip, self.reduction = warm_up, momentum, flip, reduction
        self.epoch = 0
        # Not buffers: DistributedDataParallel would overwrite them with those of the first process.
        self._memory: dict[str, Tensor] = {}
        self._trace: Trace | None = None
        if shape is not None:
            # The sign of a loss is that of the label, also of a loss of 0; NaN is an unknown pair. Losses of
            # this epoch are halved.
            unknown = torch.full(shape, torch.nan, dtype=torch.float16)
            weights = torch.ones(shape, dtype=torch.float16)
            self._memory = {"latest": unknown, "losses": unknown.clone(), "weights": weights}
            self._trace = Trace(shape) if keep_trace else None

    @classmethod
    def large_loss_rejection(cls, step: float = 0.002, **options: Any) -> "SelfPacedLoss":
        """LL-R: ignore negatives of the largest losses, `step` more of a batch per epoch: Kim et al. 2022."""
        return cls(pace_function="hard", schedule=_NegativesPace(step), **options)

    @classmethod
    def large_loss_correction(cls, step: float = 0.002, **options: Any) -> "SelfPacedLoss":
        """LL-Ct: learn these negatives as positives: Kim et al. 2022. As :meth:`large_loss_rejection`."""
        return cls.large_loss_rejection(step, flip=True, **options)

    @classmethod
    def splc(
        cls, threshold: float = 0.6, base: str | PairLoss = "focal-margin", **options: Any
    ) -> "SelfPacedLoss":
        """SPLC: learn negatives with a probability above a threshold as positives: Zhang et al. 2021."""
        loss = base if callable(base) else _LOSSES[base]
        bound = loss(torch.logit(torch.tensor([[threshold]])), torch.zeros(1, 1)).item()
        schedule = _NegativesPace(bound=bound)
        return cls(base=base, pace_function="hard", schedule=schedule, flip=True, **options)

    @classmethod
    def asl(cls, **options: Any) -> "SelfPacedLoss":
        """ASL: the asymmetric loss without pacing: Ridnik et al. 2021."""
        return cls(base="asymmetric", pace_function=None, **options)

    @property
    def target(self) -> float | None:
        """The schedule's target in this epoch; None if nothing is paced yet."""
        if self.pace_function is None or self.epoch < self.warm_up:
            return None
        targets = self.schedule.targets
        return targets[min(self.epoch - self.warm_up, len(targets) - 1)]

    def forward(
        self,
        logits: Tensor,
        targets: Tensor | tuple[Tensor, ...],
        index: Tensor | None = None,
        label_weight: Tensor | None = None,
    ) -> Tensor:
        """Return the loss of a batch.

        Parameters
        ----------
        logits : tensor (n, L)
            Outputs of the network.
        targets : tensor (n, L), or tuple
            Labels: 0/1, ±1 or boolean; NaN where unknown. A tuple holds targets, index and, if given,
            label_weight. A `torch.utils.data.StackDataset` of Y and ``range(len(Y))`` has such batches.
        index : tensor (n,), optional
            Rows of the training set. Needed in training if the loss has a `shape`.
        label_weight : tensor (n, L), optional
            Prior weight of each pair; 0 leaves the pair out.
        """
        if isinstance(targets, tuple | list):
            targets, index, *rest = targets
            label_weight = rest[0] if rest else label_weight
        marked = targets.float().clamp(0.0, 1.0)
        if label_weight is not None:
            marked = marked.masked_fill(label_weight <= 0, torch.nan)
        labels, known = marked.nan_to_num(0.0), torch.eq(marked, marked, out=torch.empty_like(marked))
        # In single precision autocast changes none of these operations.
        logits = logits.float()
        losses = self.base(logits, labels)
        weights = known if label_weight is None else known * label_weight
        paced = self._weights(losses.detach(), marked, index) if self.training else None
        if paced is not None and self.flip:
            losses = losses * paced + (1.0 - paced) * self.base(logits, 1.0 - labels)
        elif paced is not None:
            weights = weights * paced
        losses = losses * weights
        if self.reduction == "none":
            return losses
        return losses.sum() / (known.sum().clamp(min=1.0) if self.reduction == "mean" else 1.0)

    def end_epoch(self) -> None:
        """Move the pace, and weight the pairs for the next epoch. Call it after each training epoch."""
        self.epoch += 1
        if not self._memory:
            return
        memory = self._memory
        # One label after the other in memory, as the schedules read them.
        latest, before = (memory[name].t().contiguous().float() for name in ("latest", "losses"))
        if distributed.is_available() and distributed.is_initialized():
            latest = _mean_of_processes(latest)
        memory["latest"].fill_(torch.nan)
        new = latest.mul_(2.0).clamp_(-_LARGEST, _LARGEST).cpu().numpy().T
        old = before.cpu().numpy().T
        np.copyto(new, old, where=np.isnan(new))
        np.copyto(old, new, where=np.isnan(old))
        mean = self.momentum * old + (1.0 - self.momentum) * new
        memory["losses"].copy_(torch.from_numpy(mean))
        target = self.target
        known, labels = ~np.isnan(mean), ~np.signbit(mean)
        losses = np.abs(mean, where=known, out=np.zeros_like(mean))
        weights = np.ones((1, 1)) if target is None else self._pace(target, losses, labels, known)
        if target is not None:
            memory["weights"].copy_(torch.from_numpy(weights))
        if self._trace is not None:
            self._trace.add(losses, weights)

    def trace(self) -> Trace:
        """Return losses and weights of all epochs, for :mod:`mlspl.curriculum`."""
        if self._trace is None:
            raise UserError("This loss recorded no trace. Create it with a shape, and with keep_trace=True.")
        return self._trace

    def get_extra_state(self) -> dict[str, Any]:
        """The part of ``state_dict`` that is not a parameter: tensors and an integer."""
        state: dict[str, Any] = {"epoch": self.epoch, **self._memory}
        if self._trace is not None:
            state["trace"] = {name: torch.as_tensor(value) for name, value in vars(self._trace).items()}
        return state

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Restore what `get_extra_state` returned."""
        for name, kept in self._memory.items():
            if name not in state or state[name].shape != kept.shape:
                raise UserError("The saved losses have another shape. Give this loss that of their labels.")
        self.epoch = state["epoch"]
        self._memory = {name: state[name].clone() for name in self._memory}
        if self._trace is not None and "trace" in state:
            vars(self._trace).update({name: value.cpu().numpy() for name, value in state["trace"].items()})
            self._trace.n_steps = int(self._trace.n_steps)

    def _pace(self, target: float, losses: np.ndarray, labels: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Weights (n, L) for the losses, by the same code as all estimators."""
        function: Any = self.pace_function
        weights = np.empty_like(losses)
        # A label at a time fits the processor's cache.
        is_separate = self.schedule.by_label and function.by_label
        for some in gen_batches(losses.shape[1], 1 if is_separate else losses.shape[1]):
            part = losses[:, some]
            paced = function.weight(part, self.schedule.pace(target, part, labels[:, some], known[:, some]))
            weights[:, some] = pacing.check_weights(paced, part.shape, function)
        return weights

    def _weights(self, losses: Tensor, marked: Tensor, index: Tensor | None) -> Tensor | None:
        """Weights of a batch; None if all are 1. Unknown labels are marked by NaN."""
        target = self.target
        if self._memory:
            if index is None:
                raise UserError("The loss has a shape and got no index. Pass the rows of the batch as index.")
            index = index.to(losses.device)
            if losses.device != self._memory["latest"].device:
                self._memory = {name: kept.to(losses.device) for name, kept in self._memory.items()}
            self._memory["latest"].index_copy_(0, index, (losses * (marked - 0.5)).half())
            return None if target is None else self._memory["weights"].index_select(0, index)
        if target is None:
            return None
        known = ~marked.isnan()
        values = losses.where(known, 0.0).cpu().double().numpy()
        weights = self._pace(target, values, marked.cpu().numpy(), known.cpu().numpy())
        return torch.from_numpy(weights).to(losses)


def _mean_of_processes(losses: Tensor) -> Tensor:
    """The mean of each pair's losses in the processes that saw it; NaN if none did."""
    n_known = (~losses.isnan()).float()
    # Adding -0.0 keeps the sign of any 0.
    sums = losses.nan_to_num(-0.0)
    for values in (n_known, sums):
        distributed.all_reduce(values)
    return sums / n_known
