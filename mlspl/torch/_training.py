"""The training of several networks at once, each without its fold."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from scipy.special import logit
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, dropout, layer_norm, relu

from mlspl.torch.net import LAYER_NORM_EPSILON

_BLOCK_ROWS = 4096


class _Batched(nn.Module):
    """Networks of one shape for some columns of the inputs; a parameter has an axis of networks first."""

    def __init__(self, n_networks: int, columns: slice, widths: list[int], dropout: float) -> None:
        super().__init__()
        self.columns, self.dropout = columns, dropout
        self.layers: Any = nn.ModuleList()
        for n_inputs, n_units in pairwise(widths):
            bound, zeros = n_inputs**-0.5, torch.zeros(n_networks, n_units)
            weight = torch.empty(n_networks, n_inputs, n_units).uniform_(-bound, bound)
            layer = {"weight": weight, "bias": zeros, "scale": zeros + 1.0, "shift": zeros.clone()}
            self.layers.append(nn.ParameterDict(layer))

    def forward(self, x: Tensor, some: slice) -> Tensor:
        x = x[:, self.columns]
        for number, layer in enumerate(self.layers, start=1):
            x = torch.matmul(x, layer["weight"][some]) + layer["bias"][some, None]
            if number < len(self.layers):
                x = layer_norm(x, x.shape[-1:], eps=LAYER_NORM_EPSILON)
                x = relu(x * layer["scale"][some, None] + layer["shift"][some, None])
                x = dropout(x, self.dropout, self.training)
        return x

    def state(self, network: int) -> list[Tensor]:
        return [parameter.detach()[network] for parameter in self.parameters()]

    def arrays(self, n_inputs: int) -> list[dict[str, np.ndarray]]:
        """The layers; weights of the other inputs are 0."""
        layers = [
            {name: part.detach().cpu().numpy() for name, part in layer.items()} for layer in self.layers
        ]
        weight = layers[0]["weight"]
        layers[0]["weight"] = np.zeros((len(weight), n_inputs, weight.shape[2]), dtype=weight.dtype)
        layers[0]["weight"][:, self.columns] = weight
        return layers


class _Separate(nn.Module):
    """Networks of a user's module."""

    def __init__(self, networks) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, x: Tensor, some: slice) -> Tensor:
        return torch.stack([network(x) for network in self.networks[some]])

    def state(self, network: int) -> list[Tensor]:
        return list(self.networks[network].state_dict().values())


class Round(NamedTuple):
    """Trained networks: layers or modules, out-of-fold log-odds (n, L), log losses (G·K, n, L), epochs."""

    layers: list[dict[str, np.ndarray]]
    modules: list[nn.Module]
    log_odds: np.ndarray
    losses: np.ndarray
    n_epochs: int


def join_layers(parts: Sequence[list[dict[str, np.ndarray]]]) -> list[dict[str, np.ndarray]]:
    """The layers of several groups of networks."""
    return [
        {name: np.concatenate([layer[name] for layer in same]) for name in same[0]}
        for same in zip(*parts, strict=True)
    ]


class Networks:
    """A learner for `pacing.paced`: `fit` trains all networks, each with its own weights.

    There are G groups of K networks, one for each fold: a group for the features, and one for their
    encodings. Losses and weights are those of all networks, one below the other: (G·K·n, L). A network is
    paced by its own losses: in those of others, its held-out fold would have a part.
    """

    def __init__(self, owner, scaling, X, Y, label_weight, folds, seed, report) -> None:
        device = owner.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.owner, self.Y, self.seed, self.report = owner, Y, seed, report
        self.prior = np.ones(Y.shape) if label_weight is None else label_weight
        self.device = torch.device(device)
        X, n_features = scaling.standardise(X), scaling.n_features
        self.X: Any = X if sparse.issparse(X) else self._tensor(X)
        self.inputs = [slice(0, n_features), slice(n_features, X.shape[1])][: 1 + (X.shape[1] > n_features)]
        self.labels, self.prior_weight = self._tensor(Y), self._tensor(self.prior)
        self.n_folds = len(folds)
        self.held_out = [rows for _, rows in folds] * len(self.inputs)
        self.n_networks = len(self.held_out)
        self.batch_size = owner.batch_size
        if self.batch_size == "auto":
            self.batch_size = int(np.clip(len(Y) // 20, 16, 256))
        self.rounds: list[Round] = []
        self.is_stopped = False
        in_training = np.ones((self.n_networks, len(Y), 1), dtype=bool)
        for network, rows in enumerate(self.held_out):
            in_training[network, rows] = self.n_folds == 1
        self.in_training = self._tensor(in_training)
        self.all_known = np.concatenate((self.prior > 0) & in_training)
        self.all_labels = np.tile(Y, (self.n_networks, 1))

    def fit(self, weights) -> None:
        """Train with these weights; those of the unpaced round are kept if all are 1."""
        if not self.rounds or not (weights == 1).all():
            self.train(weights)

    def losses(self) -> np.ndarray:
        """Log losses (G·K·n, L) of the last round."""
        last = self.rounds[-1] if self.rounds else self.train(np.ones(self.all_labels.shape))
        return np.concatenate(last.losses).astype(np.float64)

    def reduce(self, values) -> np.ndarray:
        """The mean (n, L) of values (G·K·n, L) over the networks that are trained on a row."""
        weights = np.broadcast_to(self.in_training.cpu().numpy(), (self.n_networks, *self.Y.shape))
        return np.average(values.reshape(weights.shape), axis=0, weights=weights)

    def train(self, weights) -> Round:
        """Train a round of networks."""
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(self.seed)
            self.rounds.append(self._train(weights))
        return self.rounds[-1]

    def _train(self, weights) -> Round:
        owner = self.owner
        groups: Any = nn.ModuleList(self._make()).to(self.device)
        weight = self._tensor(self.prior * weights.reshape(-1, *self.Y.shape)) * self.in_training
        optimizer = torch.optim.AdamW(
            groups.parameters(), lr=owner.learning_rate, weight_decay=owner.weight_decay, fused=True
        )
        places = [(group, number) for group in groups for number in range(self.n_folds)]
        best = np.full(self.n_networks, np.inf)
        states = [[value.clone() for value in group.state(number)] for group, number in places]
        since = epoch = 0
        while epoch < owner.n_epochs and since < owner.patience and not self.is_stopped:
            groups.train()
            # A batch of one row has no variance, which a batch norm needs: the last rows may be left out.
            for rows in torch.randperm(len(self.Y)).split(self.batch_size):
                if len(rows) == 1 < len(self.Y):
                    continue
                optimizer.zero_grad()
                rows = rows.to(self.device)
                losses = self._losses(self._outputs(groups, rows), rows) * weight[:, rows]
                (losses.sum() / (len(rows) * self.Y.shape[1])).backward()
                optimizer.step()
            epoch, since = epoch + 1, since + 1
            for place, loss in enumerate(self._validate(places)[1]):
                if loss < best[place]:
                    group, number = places[place]
                    best[place], since = loss, 0
                    states[place] = [value.clone() for value in group.state(number)]
            self.is_stopped = bool(self.report(f"epoch {epoch}, loss {best.mean():.4f}"))
        for (group, number), state in zip(places, states, strict=True):
            for value, kept in zip(group.state(number), state, strict=True):
                value.copy_(kept)
        log_odds, _ = self._validate(places)
        with torch.no_grad():
            blocks = torch.arange(len(self.Y), device=self.device).split(_BLOCK_ROWS)
            parts = [self._losses(self._outputs(groups, rows), rows).cpu().numpy() for rows in blocks]
        is_own = owner.module is not None
        layers = [] if is_own else join_layers([group.arrays(self.X.shape[1]) for group in groups])
        modules = list(groups[0].networks.cpu()) if is_own else []
        return Round(layers, modules, log_odds, np.concatenate(parts, axis=1), epoch)

    @torch.no_grad()
    def _validate(self, places) -> tuple[np.ndarray, np.ndarray]:
        """The out-of-fold log-odds, and the mean loss of each network on its fold."""
        log_odds = np.zeros(self.Y.shape)
        sums = np.zeros(self.n_networks)
        for place, (group, number) in enumerate(places):
            group.eval()
            for rows in torch.as_tensor(self.held_out[place]).to(self.device).split(_BLOCK_ROWS):
                outputs = group(self._rows(rows), slice(number, number + 1))
                sums[place] += float((self._losses(outputs, rows) * self.prior_weight[rows]).sum())
                log_odds[rows.cpu().numpy()] += outputs[0].double().cpu().numpy() / len(self.inputs)
        return log_odds, sums / [len(rows) for rows in self.held_out]

    def _outputs(self, groups, rows: Tensor) -> Tensor:
        """Log-odds (G·K, n, L)."""
        x = self._rows(rows)
        return torch.cat([group(x, slice(None)) for group in groups])

    def _losses(self, outputs: Tensor, rows: Tensor) -> Tensor:
        """Log losses (networks, n, L)."""
        labels = self.labels[rows].expand_as(outputs)
        return binary_cross_entropy_with_logits(outputs, labels, reduction="none")

    def _make(self) -> list[nn.Module]:
        n_labels, owner = self.Y.shape[1], self.owner
        if owner.module is not None:
            n_features = self.inputs[0].stop
            return [_Separate([owner.module(n_features, n_labels) for _ in range(self.n_folds)])]
        # Outputs start at the log-odds of each label's frequency.
        frequency = ((self.prior * self.Y).sum(axis=0) + 1.0) / (self.prior.sum(axis=0) + 2.0)
        groups: list[nn.Module] = []
        for columns in self.inputs:
            widths = [columns.stop - columns.start, *owner.hidden, n_labels]
            group = _Batched(self.n_folds, columns, widths, owner.dropout)
            group.layers[-1]["bias"].data += self._tensor(logit(frequency)).cpu()
            groups.append(group)
        return groups

    def _rows(self, rows: Tensor) -> Tensor:
        if sparse.issparse(self.X):
            return self._tensor(self.X[rows.cpu().numpy()].toarray())
        return self.X[rows]

    def _tensor(self, values) -> Tensor:
        return torch.from_numpy(np.asarray(values, dtype=np.float32)).to(self.device)


@torch.no_grad()
def apply_modules(modules: list[nn.Module], values: np.ndarray) -> np.ndarray:
    """The mean of the modules' outputs."""
    x = torch.from_numpy(values.astype(np.float32))
    return torch.stack([module.eval()(x).double() for module in modules]).mean(dim=0).numpy()
