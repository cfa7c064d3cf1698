"""`SelfPacedNetClassifier`: an ensemble of small networks, one per fold, paced by out-of-fold losses.

PyTorch is imported by the fit. Predictions are computed by NumPy, so that a fitted model, also from a file,
works without PyTorch.
"""

from collections.abc import Iterator
from importlib import import_module

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.utils import check_random_state, gen_batches

from mlspl import noise, pacing
from mlspl.errors import UserError
from mlspl.model_selection import IterativeStratification
from mlspl.models import (
    UNPACED,
    CallbackSupportMixin,
    Candidate,
    FittedMember,
    MultiLabelClassifier,
    PathPoint,
    choose_point,
    fit_progress,
    store_parameters,
    visit_points,
    with_callbacks,
)
from mlspl.spaces import Model

LAYER_NORM_EPSILON = 1e-5
LARGEST_INPUT = 100.0  # standard deviations: outliers are clipped
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
    """The mean of K networks of one shape, in NumPy; features are standardised by `center` and `spread`.

    A layer has ``weight`` (K, inputs, units), ``bias`` (K, units), and ``scale`` and ``shift`` of its norm.
    """

    _contents = {
        "layers": [
            {
                "weight": "float32 (_, _, _)",
                "bias": "float32 (_, _)",
                "scale": "float32 (_, _)",
                "shift": "float32 (_, _)",
            }
        ],
        "center": "float64 (inputs)",
        "spread": "float64 (inputs)",
    }

    def __init__(self, layers, center, spread) -> None:
        self.layers, self.center, self.spread = layers, center, spread

    @classmethod
    def measure(cls, X) -> "NetworkModel":
        """A model without layers, with centre and spread of the features; sparse ones keep their zeros."""
        if sparse.issparse(X):
            center, spread = np.zeros(X.shape[1]), abs(X).max(axis=0).toarray().ravel()
        else:
            center, spread = X.mean(axis=0), X.std(axis=0)
        # Of a constant column, rounding may leave a tiny deviation.
        is_constant = spread <= 1e-12 * np.abs(center)
        return cls([], center, np.where(is_constant, 1.0, spread))

    def standardise(self, X):
        """Features as the networks take them."""
        if sparse.issparse(X):
            return X @ sparse.diags_array(1.0 / self.spread, format="csr")
        return np.clip((X - self.center) / self.spread, -LARGEST_INPUT, LARGEST_INPUT)

    def scores(self, X, outputs=None) -> np.ndarray:
        """Log-odds (n, L); `outputs` computes them from standardised features, by default the layers do."""
        parts = []
        for rows in gen_batches(X.shape[0], _BLOCK_ROWS):
            values = self.standardise(X[rows])
            values = values.toarray() if sparse.issparse(values) else values
            parts.append((outputs or self._outputs)(values))
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
        arrays = [self.center, *(array for layer in self.layers for array in layer.values())]
        if not (self.spread > 0).all() or not all(np.isfinite(array).all() for array in arrays):
            raise ValueError("center, spread or layers hold values that no fit leaves")


class SelfPacedNetClassifier(CallbackSupportMixin, MultiLabelClassifier):
    """Networks trained without one fold each, stopped early on it, and averaged.

    In a second round, each network is trained again with self-paced weights, by its losses of the first. The
    networks of both rounds are averaged if that lowers the out-of-fold log loss; otherwise those of the first
    are kept. Features are standardised; sparse ones are divided by their largest absolute value.

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
        Folds, and networks.
    pace_function : str, SelfPacedFunction or None, default="gaussian"
        The self-paced function; None trains one round without weights.
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
    verbose : int, default=0
        1 shows a progress bar.

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
        self.networks_ = NetworkModel.measure(X)
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        folds = np.zeros(len(Y), dtype=int)
        if len(Y) > 1:
            splitter = IterativeStratification(min(self.n_folds, len(Y)), random_state=int(seeds[0]))
            for number, (_, held_out) in enumerate(splitter.split(X, Y)):
                folds[held_out] = number
        function = None if self.pace_function is None or len(Y) < 2 else pacing.get(self.pace_function)
        n_rounds = (1 + len(self.schedule or (1,))) if function else 1
        self.trace_ = pacing.Trace(Y.shape)
        with fit_progress(self, n_rounds * self.n_epochs, X, Y) as report:
            values = self.networks_.standardise(X)
            networks = training.Networks(self, values, Y, prior, folds, int(seeds[1]), report)
            networks.losses()
            schedule = self.schedule or pacing.NoisePace(
                noise.wrong_shares(
                    np.where(prior > 0, Y, np.nan), expit(networks.rounds[0].log_odds), n_jobs=1
                )
            )
            walk = pacing.paced(
                networks, function, schedule if function else (1.0,), networks.all_labels, networks.all_known
            )
            for step in walk:
                losses = networks.losses() if step.losses is None else step.losses
                self.trace_.add(networks.reduce(losses), networks.reduce(step.weights))
                if networks.is_stopped:
                    walk.stop()
        first, last = networks.rounds[0], networks.rounds[-1]
        rounds = [first] if last is first else [first, last]
        means = [first.log_odds, (first.log_odds + last.log_odds) / 2]
        if len(rounds) > 1 and choose_point(means, Y, prior) == 0:
            rounds = [first]
        self.is_paced_ = len(rounds) > 1
        self.networks_.layers = training.join_layers(rounds)
        self.modules_ = [module for each in rounds for module in each.modules]
        self.oof_probabilities_ = expit(np.mean([each.log_odds for each in rounds], axis=0))
        self.label_weights_ = networks.reduce(walk.weights) if self.is_paced_ else np.ones(Y.shape)
        self.history_ = walk.history
        self.stop_reason_ = walk.stop_reason
        self.n_epochs_ = [each.n_epochs for each in networks.rounds]

    def _scores(self, X):
        if not self.modules_:
            return self.networks_.scores(X)
        return self.networks_.scores(X, lambda values: import_training().apply_modules(self.modules_, values))

    def _probabilities(self, X, scores):
        return expit(scores)

    def _check_saving(self) -> None:
        if self.module is not None:
            raise UserError(
                "A model file holds no code, so a model with an own module cannot be saved. Save the "
                "state_dict of its modules_ with torch.save, and build the model again from it."
            )

    def _check_contents(self) -> None:
        layers = self.networks_.layers
        shape = (len(self.networks_.center), layers[-1]["bias"].shape[1]) if layers else None
        if self.modules_ or shape != (self.n_features_in_, len(self.label_names_)):
            raise ValueError("networks_ do not lead from the features to the labels")


class NetFamily:
    """Networks, each trained without one fold; held-out scores are log-odds.

    They are slightly optimistic, as a network is stopped early on its fold. The networks of the search are
    the fitted model. Of the `points`, those with one pace per label and class are tried.
    """

    name = "net"
    cut = 0.0
    calibration = "pooled"

    def __init__(self, points: list[PathPoint], random_state) -> None:
        self._training = import_training()
        self.points = [point for point in points if point == UNPACED or point.per == "class"]
        self.random_state = random_state
        self.n_reports = len(self.points)

    def search(self, X, Y, label_weight, folds) -> Iterator[tuple[str, list[Candidate]]]:
        """Yield the unpaced networks, then those of each pace."""
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        fold_of = np.empty(len(Y), dtype=int)
        for number, (_, test) in enumerate(folds):
            fold_of[test] = number
        self._scaling = NetworkModel.measure(X)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        values, owner = self._scaling.standardise(X), SelfPacedNetClassifier()
        networks = self._training.Networks(owner, values, Y, prior, fold_of, seed, lambda note: False)
        losses = networks.losses()
        self._found = {}
        steps = visit_points(networks.fit, losses, self.points, networks.all_labels, networks.all_known)
        for number, (point, weights) in enumerate(steps, start=1):
            self._found[point] = networks.rounds[-1], networks.reduce(losses), networks.reduce(weights)
            note = f"net: {number} of {len(self.points)} paces"
            yield note, [Candidate({}, point, networks.rounds[-1].log_odds)]

    def choose(self, candidates: list[Candidate], badness: list[float], Y, label_weight) -> list[int]:
        """The point with the smallest log loss; a paced one has to be ahead by half a standard error."""
        return [choose_point([each.held_out for each in candidates], Y, label_weight)]

    def scores(self, held_out) -> np.ndarray:
        """The log-odds themselves."""
        return held_out

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> tuple[list[Model], list[FittedMember]]:
        """Return the networks of the chosen point."""
        (member,) = members
        trained, losses, weights = self._found[member.point]
        layers = self._training.join_layers([trained])
        model = NetworkModel(layers, self._scaling.center, self._scaling.spread)
        return [model], [FittedMember(member, losses, weights)]
