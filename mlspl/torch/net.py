"""`SelfPacedNetClassifier`: an ensemble of small networks, one per fold, paced by out-of-fold losses.

PyTorch is imported by the fit. Predictions are computed by NumPy, so that a fitted model, also from a file,
works without PyTorch.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.utils import check_random_state, gen_batches

from mlspl import noise, pacing
from mlspl._docs import share
from mlspl.errors import UserError
from mlspl.models import (
    CallbackSupportMixin,
    Candidate,
    MultiLabelClassifier,
    choose_point,
    fit_progress,
    split_rows,
    store_parameters,
    visit_points,
    with_callbacks,
)
from mlspl.spaces import Model

LAYER_NORM_EPSILON = 1e-5
LARGEST_INPUT = 100.0  # standard deviations: outliers are clipped
_N_PIECES = 3  # of an encoded feature; 8 were worse (mirflickr, split 100: 0.792 instead of 0.823)
_BLOCK_ROWS = 4096


def import_training():
    """Return the module that trains networks, which needs PyTorch."""
    try:
        return import_module("mlspl.torch._training")
    except ImportError as error:
        raise UserError(
            f"Networks need PyTorch to be fitted ({error}). Install it: pip install 'mlspl[torch]'."
        ) from None


class NetworkModel(Model):
    """The mean of networks of one shape, in NumPy.

    Inputs are the features, then piecewise linear encodings of them (Gorishniy et al. 2022), all of them
    standardised by `center` and `spread`. Encoding p has the value (x − start) / width of a feature `column`,
    clipped to the range from `low` to `high`. A layer has ``weight`` (networks, inputs, units), ``bias``
    (networks, units), and ``scale`` and ``shift`` of its norm.
    """

    _contents = {
        "layers": [
            {"weight": "float32 (_, _, _)"} | dict.fromkeys(("bias", "scale", "shift"), "float32 (_, _)")
        ],
        "pieces": {"column": "int (pieces)"}
        | dict.fromkeys(("start", "width", "low", "high"), "float64 (pieces)"),
        "center": "float64 (inputs)",
        "spread": "float64 (inputs)",
    }

    def __init__(self, layers, pieces, center, spread) -> None:
        self.layers, self.pieces, self.center, self.spread = layers, pieces, center, spread

    @classmethod
    def measure(cls, X, is_encoded: bool = True) -> "NetworkModel":
        """A model without layers, for these features; sparse ones keep their zeros, and are not encoded."""
        is_sparse = sparse.issparse(X)
        model = cls([], _find_pieces(np.zeros((1, 1)) if is_sparse or not is_encoded else X), 0.0, 1.0)
        if is_sparse:
            model.center, spread = np.zeros(X.shape[1]), abs(X).max(axis=0).toarray().ravel()
        else:
            inputs = model._encode(X)
            model.center, spread = inputs.mean(axis=0), inputs.std(axis=0)
        # Of a constant column, rounding may leave a tiny deviation.
        model.spread = np.where(spread <= 1e-12 * np.abs(model.center), 1.0, spread)
        return model

    @property
    def n_features(self) -> int:
        """The number of features, which are the first inputs."""
        return len(self.center) - len(self.pieces["column"])

    def standardise(self, X):
        """Inputs of the networks; sparse features of a fit stay sparse."""
        if sparse.issparse(X):
            return X @ sparse.diags_array(1.0 / self.spread, format="csr")
        return np.clip((self._encode(X) - self.center) / self.spread, -LARGEST_INPUT, LARGEST_INPUT)

    def _encode(self, X) -> np.ndarray:
        pieces = self.pieces
        encoded = (X[:, pieces["column"]] - pieces["start"]) / pieces["width"]
        return np.hstack([X, np.clip(encoded, pieces["low"], pieces["high"])])

    def scores(self, X, outputs=None) -> np.ndarray:
        """Log-odds (n, L); `outputs` computes them from standardised features, by default the layers do."""
        parts = []
        for rows in gen_batches(X.shape[0], _BLOCK_ROWS):
            values = X[rows].toarray() if sparse.issparse(X) else X[rows]
            parts.append((outputs or self._outputs)(self.standardise(values)))
        return np.concatenate(parts)

    def _outputs(self, values) -> np.ndarray:
        for layer in self.layers:
            values = values @ layer["weight"].astype(np.float64) + layer["bias"][:, None, :]
            if layer is not self.layers[-1]:
                values = values - values.mean(axis=-1, keepdims=True)
                values /= np.sqrt(np.square(values).mean(axis=-1, keepdims=True) + LAYER_NORM_EPSILON)
                values = np.maximum(values * layer["scale"][:, None, :] + layer["shift"][:, None, :], 0.0)
        return values.mean(axis=0)

    def _check_contents(self) -> None:
        width = len(self.center)
        for layer in self.layers:
            n_networks, n_inputs, n_units = layer["weight"].shape
            others = {layer[name].shape for name in ("bias", "scale", "shift")}
            if n_inputs != width or others != {(n_networks, n_units)}:
                raise ValueError("layers have shapes that do not fit each other")
            width = n_units
        if len({len(layer["bias"]) for layer in self.layers}) > 1:
            raise ValueError("layers are of different numbers of networks")
        if not all(0 <= column < self.n_features for column in self.pieces["column"]):
            raise ValueError("pieces are of features that do not exist")
        layers = [array for layer in self.layers for array in layer.values()]
        are_finite = all(np.isfinite(array).all() for array in (self.center, *self.pieces.values(), *layers))
        if not are_finite or min(np.min(self.spread), np.min(self.pieces["width"], initial=1.0)) <= 0:
            raise ValueError("center, spread, pieces or layers hold values that no fit leaves")


def _find_pieces(X) -> dict[str, np.ndarray]:
    """The pieces of the features with at least two, between quantiles; the outer ones go beyond them."""
    edges = np.quantile(X, np.linspace(0.0, 1.0, _N_PIECES + 1), axis=0, method="lower").T
    width = np.diff(edges)
    is_piece = width > 1e-9 * (edges[:, -1:] - edges[:, :1])
    is_piece &= is_piece.sum(axis=1, keepdims=True) > 1
    column, place = np.nonzero(is_piece)
    is_first, is_last = np.diff(column, prepend=-1) > 0, np.diff(column, append=X.shape[1]) > 0
    low, high = np.where(is_first, -3.0, 0.0), np.where(is_last, 4.0, 1.0)
    start, width = edges[column, place], width[column, place]
    return {"column": column, "start": start, "width": width, "low": low, "high": high}


@share
class SelfPacedNetClassifier(CallbackSupportMixin, MultiLabelClassifier):
    """Networks trained without one fold each, stopped early on it, and averaged.

    For each fold there is a network of the standardised features, and one of piecewise linear encodings of
    them, three pieces for each feature. Sparse features are not encoded.

    In a second round, each network is trained again with self-paced weights, by its losses of the first. The
    networks of both rounds are averaged if that lowers the out-of-fold log loss. Sparse features are divided
    by their largest absolute value.

    Parameters
    ----------
    hidden : tuple of int, default=(256, 256)
        Units of the hidden layers, each with layer norm, ReLU and dropout.
    dropout : float, default=0.5
        Share of hidden units that are left out at random in training.
    learning_rate, weight_decay : float, default=1e-3 and 1e-2
        Of AdamW.
    batch_size : "auto" or int, default="auto"
        Rows per step. "auto" is n/20, from 16 to 256.
    n_epochs : int, default=100
        The largest number of epochs of each round.
    patience : int, default=10
        A round ends if no network improved on its fold in so many epochs.
    n_folds : int, default=5
        Number of folds.
    {pace_function}
    schedule : schedule of :mod:`mlspl.pacing`, optional
        How the pace grows. By default one step, to the estimated share of right labels of each label and
        class; if hardly any label is wrong, the second round is left out.
    module : callable, optional
        Makes an own network: ``module(n_features, n_labels)`` returns a `torch.nn.Module` from features
        (n, d) to logits (n, L).
    device : str, default="auto"
        Where PyTorch trains. "auto" is "cuda" if available, else "cpu".
    random_state : int, RandomState or None, default=None
        Seeds folds, initial parameters, batches and dropout. On a CPU, a seed gives one result.
    {verbose}

    Attributes
    ----------
    networks_ : NetworkModel
        Parameters of all networks. Without layers if there is a `module`.
    modules_ : list of torch.nn.Module
        The networks, with `module`; else empty.
    oof_probabilities_ : array (n_samples, n_labels)
        Out-of-fold probabilities of the training rows.
    label_weights_ : array (n_samples, n_labels)
        Weights of the last round that is part of the model.
    is_paced_ : bool
        Whether the second round is part of the model.
    history_, trace_, stop_reason_
        As in :class:`mlspl.SelfPacedClassifier`.
    n_epochs_ : list of int
        Epochs of each round.

    Examples
    --------
    >>> from mlspl import datasets
    >>> from mlspl.torch import SelfPacedNetClassifier
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = SelfPacedNetClassifier(hidden=(32,), n_epochs=5, n_folds=2, random_state=0)
    >>> model.fit(digits.X[:200], digits.Y[:200]).predict(digits.X[200:202]).shape  # doctest: +SKIP
    (2, 8)
    """

    _contents = {
        "networks_": NetworkModel,
        "modules_": [None],
        "oof_probabilities_": "float (rows, labels)",
        "label_weights_": "float (rows, labels)",
        "history_": "plain",
        "trace_": (pacing.Trace, None),
        "stop_reason_": "text",
        "n_epochs_": "plain",
        "is_paced_": "bool",
    }

    def __init__(
        self,
        hidden=(256, 256),
        dropout=0.5,
        learning_rate=1e-3,
        weight_decay=1e-2,
        batch_size="auto",
        n_epochs=100,
        patience=10,
        n_folds=5,
        pace_function="gaussian",
        schedule=None,
        module=None,
        device="auto",
        random_state=None,
        verbose=0,
    ):
        store_parameters(self, locals())

    fit = with_callbacks(MultiLabelClassifier.fit)

    def _fit(self, X, Y, label_weight):
        training = import_training()
        random = check_random_state(self.random_state)
        seeds = random.randint(2**31 - 1, size=2)
        self.networks_ = NetworkModel.measure(X, self.module is None)
        folds: list = split_rows(Y, self.n_folds, int(seeds[0])) if len(Y) > 1 else [([], [0])]
        function = None if self.pace_function is None or len(Y) < 2 else pacing.get(self.pace_function)
        n_rounds = (1 + len(self.schedule or (1,))) if function else 1
        self.trace_ = pacing.Trace(Y.shape)
        with fit_progress(self, n_rounds * self.n_epochs, X, Y) as report:
            data = X, Y, label_weight, folds, int(seeds[1])
            networks = training.Networks(self, self.networks_, *data, report)
            prior = networks.prior
            networks.losses()
            targets: Any = (1.0,)
            if function is not None:
                given, odds = np.where(prior > 0, Y, np.nan), networks.rounds[0].log_odds
                targets = self.schedule or pacing.NoisePace(noise.wrong_shares(given, expit(odds), n_jobs=1))
            walk = pacing.paced(networks, function, targets, networks.all_labels, networks.all_known)
            for step in walk:
                losses = networks.losses() if step.losses is None else step.losses
                self.trace_.add(networks.reduce(losses), networks.reduce(step.weights))
                if networks.is_stopped:
                    walk.stop()
        first, last = networks.rounds[0], networks.rounds[-1]
        means = [first.log_odds, (first.log_odds + last.log_odds) / 2]
        self.is_paced_ = last is not first and choose_point(means, Y, prior) > 0
        rounds = [first, last] if self.is_paced_ else [first]
        self.networks_.layers = training.join_layers([each.layers for each in rounds])
        self.modules_ = [module for each in rounds for module in each.modules]
        self.oof_probabilities_ = expit(means[self.is_paced_])
        self.label_weights_ = networks.reduce(walk.weights) if self.is_paced_ else np.ones(Y.shape)
        self.history_ = walk.history
        self.stop_reason_ = walk.stop_reason
        self.n_epochs_ = [each.n_epochs for each in networks.rounds]

    def _scores(self, X):
        if not self.modules_:
            return self.networks_.scores(X)
        return self.networks_.scores(X, lambda values: import_training().apply_modules(self.modules_, values))

    def _check_saving(self) -> None:
        if self.module is not None:
            raise UserError(
                "A model file holds no code, so a model with an own module cannot be saved. Save the "
                "state_dict of its modules_ with torch.save, and build the model again from it."
            )

    def _check_contents(self) -> None:
        layers = self.networks_.layers
        shape = (self.networks_.n_features, layers[-1]["bias"].shape[1]) if layers else None
        if self.modules_ or shape != (self.n_features_in_, len(self.label_names_)):
            raise ValueError("networks_ do not lead from the features to the labels")


class NetFamily:
    """Networks, each trained without one fold; those of the search are the fitted model."""

    name = "net"
    calibration = "pooled"
    n_settings = 1

    def __init__(self, points, random_state) -> None:
        self._training = import_training()
        self.points = points
        self.random_state = random_state
        self.n_reports = len(self.points)

    def search(self, X, Y, label_weight, folds) -> Iterator[tuple[str, list[Candidate]]]:
        """Yield the unpaced networks, then those of each pace."""
        self._model = NetworkModel.measure(X)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        networks = self._training.Networks(
            SelfPacedNetClassifier(), self._model, X, Y, label_weight, folds, seed, lambda note: False
        )
        losses = networks.losses()
        self._found = {}
        steps = visit_points(networks.fit, losses, self.points, networks.all_labels, networks.all_known)
        for number, (point, weights) in enumerate(steps, start=1):
            self._found[point] = networks.rounds[-1], networks.reduce(losses), networks.reduce(weights)
            note = f"net: {number} of {len(self.points)} paces"
            yield note, [Candidate({}, point, networks.rounds[-1].log_odds)]

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> tuple[list[Model], list]:
        """Return the networks of the chosen point."""
        (member,) = members
        trained, losses, weights = self._found[member.point]
        self._model.layers = trained.layers
        return [self._model], [(losses, weights)]
