"""`save_onnx`: linear models, forests and networks as ONNX files, for onnxruntime and other programs."""

import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from mlspl._files import check_output, write_file
from mlspl.errors import UserError
from mlspl.models import BSVMClassifier, JointForest, SelfPacedForestClassifier
from mlspl.spaces import LinearModel
from mlspl.torch import LARGEST_INPUT, LAYER_NORM_EPSILON, SelfPacedNetClassifier

_OPSETS = {"": 20, "ai.onnx.ml": 3}
_IR_VERSION = 9  # of the opsets; the newest would need the newest onnxruntime


class _Graph:
    """Nodes and constants; numbers are in double precision, as in the models."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError as error:
            raise UserError(f"ONNX files need a package: pip install 'mlspl[onnx]' ({error}).") from None
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def add(self, operator: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Add a node; inputs are names of tensors, or arrays. Returns the name of the output."""
        names = list(inputs)
        for place, value in enumerate(inputs):
            if not isinstance(value, str):
                names[place] = f"constant_{len(self.constants)}"
                self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(value), names[place]))
        output = f"{operator}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, names, [output], domain=domain, **attributes))
        return output

    def cast(self, value: str, kind: str) -> str:
        """Convert a tensor to another type of numbers."""
        return self.add("Cast", value, to=getattr(self.onnx.TensorProto, kind))

    def describe(self, name: str, kind: str, width: int) -> Any:
        """Describe a tensor of the shape (rows, width)."""
        element = getattr(self.onnx.TensorProto, kind)
        return self.onnx.helper.make_tensor_value_info(name, element, ["rows", width])

    def add_input(self, name: str, kind: str, width: int) -> str:
        """Add an input of the shape (rows, width), "DOUBLE" or "STRING"."""
        self.inputs.append(self.describe(name, kind, width))
        return name


def save_onnx(
    model: Any, path: str | PathLike, label_names: Sequence[str] | None = None, *, force: bool = False
) -> Path:
    """Write a linear model, a forest or a network to an ONNX file.

    The outputs are ``scores`` and ``labels`` (0 or 1), and ``probabilities`` if the model has them without
    further computations. Preprocessing by a pipeline (imputation, scaling, one-hot encoding) is included. A
    model fitted on an array has one input ``X``, in double precision. A model of a table has one input of
    shape (rows, 1) for each column; an empty text is a missing category.

    Parameters
    ----------
    model : estimator
        A fitted `BSVMClassifier` in a linear space, forest or network, or a pipeline that ends in one.
    path : path
        The file.
    label_names : sequence of str, optional
        Stored as JSON in the metadata ``label_names``; by default those of the model.
    force : bool, default=False
        Replace an existing file.
    """
    check_output(path, force=force)
    graph = _Graph()
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    final = steps.pop()
    x: Any
    if steps and isinstance(steps[0], ColumnTransformer):
        pipelines = [part for part in steps[0].transformers_ if isinstance(part[1], Pipeline)]
        texts = {name for _, part, names in pipelines if isinstance(part[0], OneHotEncoder) for name in names}
        kinds = {name: "STRING" if name in texts else "DOUBLE" for name in steps[0].feature_names_in_}
        x = {name: graph.add_input(name, kind, 1) for name, kind in kinds.items()}
    else:
        x = graph.add_input("X", "DOUBLE", int(model.n_features_in_))
    for step in steps:
        x = _transform(graph, step, x)
    scores = _scores(graph, final, x)
    labels = graph.cast(graph.add("Greater", scores, np.zeros(())), "INT64")
    outputs = {"scores": ("DOUBLE", scores), "labels": ("INT64", labels)}
    if (probabilities := _probabilities(graph, final, scores)) is not None:
        outputs["probabilities"] = ("DOUBLE", probabilities)
    helper, names = graph.onnx.helper, final.label_names_
    graph.nodes += [helper.make_node("Identity", [value], [name]) for name, (_, value) in outputs.items()]
    described = [graph.describe(name, kind, len(names)) for name, (kind, _) in outputs.items()]
    built = helper.make_model(
        helper.make_graph(graph.nodes, "mlspl", graph.inputs, described, graph.constants),
        opset_imports=[helper.make_opsetid(*item) for item in _OPSETS.items()],
        producer_name="mlspl",
        ir_version=_IR_VERSION,
    )
    stored = [str(name) for name in (names if label_names is None else label_names)]
    helper.set_model_props(built, {"label_names": json.dumps(stored)})
    return write_file(path, built.SerializeToString())


def _transform(graph: _Graph, step: Any, x: Any) -> Any:
    """The output of a preprocessing step; x is a tensor, or a dict of the columns of a table."""
    if isinstance(step, ColumnTransformer):
        parts = [
            _transform(graph, part, {name: x[name] for name in np.atleast_1d(names)})
            for _, part, names in step.transformers_
            if part != "drop" and len(names)
        ]
        return graph.add("Concat", *parts, axis=1)
    if isinstance(step, Pipeline):
        for _, part in step.steps:
            x = _transform(graph, part, x)
        return x
    if isinstance(step, OneHotEncoder) and step.drop is None:
        parts = [_one_hot(graph, *part) for part in zip(x.values(), step.categories_, strict=True)]
        return graph.add("Concat", *parts, axis=1)
    if isinstance(x, dict):
        x = graph.add("Concat", *x.values(), axis=1)
    if isinstance(step, SimpleImputer) and not step.add_indicator:
        return graph.add("Where", graph.add("IsNaN", x), step.statistics_.astype(np.float64), x)
    if isinstance(step, StandardScaler):
        x = x if step.mean_ is None or not step.with_mean else graph.add("Sub", x, step.mean_)
        return x if step.scale_ is None else graph.add("Div", x, step.scale_)
    if isinstance(step, MaxAbsScaler):
        return graph.add("Div", x, step.scale_)
    raise UserError(
        f"{type(step).__name__} before the model cannot be exported. Imputation, scaling and one-hot "
        "encoding can: apply other steps first, and fit a model on their output."
    )


def _one_hot(graph: _Graph, column: str, categories: np.ndarray) -> str:
    texts = [value if isinstance(value, str) else "" for value in categories]
    hot = graph.add("OneHotEncoder", column, domain="ai.onnx.ml", cats_strings=texts, zeros=1)
    return graph.cast(graph.add("Reshape", hot, np.array([-1, len(texts)])), "DOUBLE")


def _scores(graph: _Graph, model: Any, x: str) -> str:
    if isinstance(model, BSVMClassifier) and isinstance(model.model_, LinearModel):
        coef = model.model_.coef
        coef = coef.toarray() if sparse.issparse(coef) else coef
        product = graph.add("MatMul", x, np.ascontiguousarray(coef.T, dtype=np.float64))
        return graph.add("Add", product, model.model_.intercept)
    if isinstance(model, SelfPacedForestClassifier):
        scores = _forests(graph, model.forests_, x)
        shrunk = graph.add("Mul", scores, np.array(1.0 - model.prior_weight_))
        return graph.add("Add", shrunk, model.prior_weight_ * logit(model.forests_[0].frequencies))
    if isinstance(model, SelfPacedNetClassifier) and not model.modules_:
        return _network(graph, model.networks_, x)
    kind = type(model).__name__
    raise UserError(
        f"{kind} cannot be exported as fitted. BSVMClassifier in a linear space (--method logistic), "
        "SelfPacedForestClassifier and SelfPacedNetClassifier without an own module can."
    )


def _probabilities(graph: _Graph, model: Any, scores: str) -> str | None:
    if isinstance(model, BSVMClassifier):
        calibration: Any = getattr(model._calibration, "calibration", model._calibration)
        if calibration is None:
            return None
        scores = graph.add("Mul", scores, calibration.slope_)
    return graph.add("Sigmoid", scores)


def _network(graph: _Graph, networks: Any, x: str) -> str:
    pieces = networks.pieces
    if len(pieces["column"]):
        encoded = graph.add("Sub", graph.add("Gather", x, pieces["column"], axis=1), pieces["start"])
        encoded = graph.add("Max", graph.add("Div", encoded, pieces["width"]), pieces["low"])
        x = graph.add("Concat", x, graph.add("Min", encoded, pieces["high"]), axis=1)
    x = graph.add("Div", graph.add("Sub", x, networks.center), networks.spread)
    x = graph.add("Clip", x, np.array(-LARGEST_INPUT), np.array(LARGEST_INPUT))
    for layer in networks.layers:
        names = ("weight", "bias", "scale", "shift")
        weight, bias, scale, shift = (layer[name].astype(np.float64) for name in names)
        x = graph.add("Add", graph.add("MatMul", x, weight), bias[:, None])
        if layer is not networks.layers[-1]:
            x = graph.add("Sub", x, graph.add("ReduceMean", x, np.array([-1])))
            variance = graph.add("ReduceMean", graph.add("Mul", x, x), np.array([-1]))
            spread = graph.add("Sqrt", graph.add("Add", variance, np.array(LAYER_NORM_EPSILON)))
            x = graph.add("Div", x, spread)
            x = graph.add("Relu", graph.add("Add", graph.add("Mul", x, scale[:, None]), shift[:, None]))
    return graph.add("ReduceMean", x, np.array([0]), keepdims=0)


def _forests(graph: _Graph, forests: list[Any], x: str) -> str:
    """Log-odds ln a − ln b, with a and b the sums for and against a label: both keep all their digits."""
    odds = [_sums(graph, forest, x) for forest in forests]
    a, b = odds[0]
    if len(odds) > 1:
        shares = [[graph.add("Div", part, graph.add("Add", *parts)) for part in parts] for parts in odds]
        a, b = (graph.add("Add", *pair) for pair in zip(*shares, strict=True))
    return graph.add("Sub", graph.add("Log", a), graph.add("Log", b))


def _sums(graph: _Graph, forest: Any, x: str) -> list[str]:
    n_labels, frequencies = len(forest.frequencies), forest.frequencies
    floats = graph.cast(x, "FLOAT")
    if isinstance(forest, JointForest):
        nodes, values = _joint_leaves(forest)
        rows, targets = np.nonzero(values)
        sums = _trees(graph, forest.trees, floats, nodes[rows], targets, values[rows, targets], 2 * n_labels)
    elif forest.trees is None:
        sums = graph.add("Mul", graph.add("ReduceSum", x, np.array([1])), np.zeros(2 * n_labels))
    else:
        nodes = np.flatnonzero(forest.trees.feature < 0)
        tree = np.searchsorted(forest.trees.starts, nodes, side="right") - 1
        label = np.array(forest.labels)[tree * len(forest.labels) // len(forest.trees)]
        value = forest.trees.value[nodes]
        both = ((nodes, nodes), (label, label + n_labels), (value, 1 - value))
        nodes, targets, values = (np.concatenate(pair) for pair in both)
        sums = _trees(graph, forest.trees, floats, nodes, targets, values, 2 * n_labels)
    start = np.concatenate([frequencies, 1.0 - frequencies])
    total = graph.add("Add", graph.cast(sums, "DOUBLE"), start)
    limits = (np.array([0]), np.array([n_labels])), (np.array([n_labels]), np.array([2 * n_labels]))
    return [graph.add("Slice", total, *limit, np.array([1])) for limit in limits]


def _joint_leaves(forest: Any) -> tuple[np.ndarray, np.ndarray]:
    """The leaves, and of each the mean weight for and against every label of the training rows in it."""
    weights = np.ones(forest.labels.shape) if forest.weights is None else forest.weights
    masses = np.hstack([weights * forest.labels, weights * ~forest.labels])
    tree, row = np.nonzero(forest.leaves >= 0)
    nodes, place = np.unique(forest.trees.starts[tree] + forest.leaves[tree, row], return_inverse=True)
    members = sparse.csr_array((np.ones(len(row)), (place, row)), shape=(len(nodes), len(masses)))
    return nodes, (members @ masses) / np.asarray(members.sum(axis=1))[:, None]


def _trees(graph: _Graph, trees: Any, x: str, nodes: Any, targets: Any, weights: Any, n_targets: int) -> str:
    """Sums (rows, n_targets) over the trees, where the leaf `nodes` add `weights` to `targets`."""
    tree = np.repeat(np.arange(len(trees)), np.diff(trees.starts))
    place = np.arange(len(trees.feature)) - trees.starts[tree]
    is_leaf = trees.feature < 0
    return graph.add(
        "TreeEnsembleRegressor",
        x,
        domain="ai.onnx.ml",
        n_targets=n_targets,
        nodes_treeids=tree.tolist(),
        nodes_nodeids=place.tolist(),
        nodes_featureids=np.maximum(trees.feature, 0).tolist(),
        nodes_values=trees.value.tolist(),
        nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=np.where(is_leaf, 0, trees.left).tolist(),
        nodes_falsenodeids=np.where(is_leaf, 0, trees.right).tolist(),
        nodes_missing_value_tracks_true=trees.missing_left.astype(int).tolist(),
        target_treeids=tree[nodes].tolist(),
        target_nodeids=place[nodes].tolist(),
        target_ids=np.asarray(targets).tolist(),
        target_weights=np.asarray(weights, dtype=np.float32).tolist(),
    )
