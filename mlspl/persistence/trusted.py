"""The types a model file may name: a few kinds of nodes, each with what it may build."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    LabelBinarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from mlspl import model_selection, pacing
from mlspl.correlation import CodeRidge, CodeSVR
from mlspl.models._calibrated import LazyCalibration
from mlspl.models._neighbours import StableNeighbours
from mlspl.models.bsvm import BSVMClassifier
from mlspl.models.mlknn import MLkNNClassifier
from mlspl.models.mlloc import MLLOCClassifier
from mlspl.models.mlspl import MLSPLClassifier
from mlspl.models.mlspl_cv import MLSPLClassifierCV
from mlspl.models.ranksvm import LazySlope, RankSVMClassifier
from mlspl.models.self_paced import SelfPacedClassifier
from mlspl.models.tram import TRAMClassifier
from mlspl.models.tuned_decision import TunedDecisionClassifier
from mlspl.pacing.derived import DerivedScale, DerivedShift
from mlspl.spaces import KernelExpansion

__all__ = ["ALLOWED", "OBJECTS", "TRUSTED_TYPES", "full_name"]


def full_name(thing: Any) -> str:
    """Module and name of a class or function, as model files spell them.

    Examples
    --------
    >>> import collections
    >>> full_name(collections.OrderedDict)
    'collections.OrderedDict'
    """
    return f"{thing.__module__}.{thing.__name__}"


_OBJECTS = (
    BSVMClassifier,
    MLkNNClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    MLSPLClassifierCV,
    RankSVMClassifier,
    SelfPacedClassifier,
    TRAMClassifier,
    TunedDecisionClassifier,
    CodeRidge,
    CodeSVR,
    LazyCalibration,
    LazySlope,
    StableNeighbours,
    model_selection.AnchoredCalibration,
    model_selection.IdentityCalibration,
    model_selection.PlattCalibration,
    model_selection.CountThreshold,
    model_selection.LabelThreshold,
    model_selection.ZeroThreshold,
    *(type(pacing.get(name)) for name in pacing.names()),
    DerivedScale,
    DerivedShift,
    KernelExpansion,
    pacing.GeometricPace,
    pacing.QuantilePace,
    pacing.Trace,
    pacing.UntilInPlay,
    BernoulliNB,
    ColumnTransformer,
    GaussianNB,
    LabelBinarizer,
    LinearSVC,
    LogisticRegression,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PCA,
    Pipeline,
    RidgeClassifier,
    RobustScaler,
    SimpleImputer,
    StandardScaler,
    TruncatedSVD,
)
_SCALARS = (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float32, np.float64)
_TRUSTED: dict[str, tuple] = {
    "ObjectNode": _OBJECTS,
    "DictNode": (dict,),
    "ListNode": (list,),
    "TupleNode": (tuple,),
    "SliceNode": (slice,),
    "JsonNode": (str,),
    "TypeNode": (bool, int, float, str, *_SCALARS),
    "NdArrayNode": (np.ndarray, *_SCALARS),
    "DTypeNode": (np.dtype,),
    "RandomStateNode": (np.random.RandomState,),
    "SparseMatrixNode": (sparse.csr_array, sparse.csr_matrix),
}
ALLOWED = {loader: frozenset(map(full_name, things)) for loader, things in _TRUSTED.items()}
"""The types that each kind of node may be of."""
OBJECTS = ALLOWED["ObjectNode"]
"""The types that are built part by part."""

TRUSTED_TYPES: tuple[str, ...] = tuple(sorted(frozenset().union(*ALLOWED.values())))
"""Every type a model file may name, in alphabetical order."""
