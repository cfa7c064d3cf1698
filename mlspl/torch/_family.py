"""Networks as a family of `MLSPLClassifierCV`."""

from collections.abc import Iterator

import numpy as np
from sklearn.utils import check_random_state

from mlspl.models import UNPACED, Candidate, FittedMember, PathPoint, choose_point, visit_points
from mlspl.spaces import Model
from mlspl.torch.net import NetworkModel, SelfPacedNetClassifier, import_training


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
