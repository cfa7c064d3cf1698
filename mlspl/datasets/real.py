"""`load_noisy_labels`: data sets whose label errors people made, with a better truth to compare with."""

import json
import os
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logit

from mlspl.datasets.arrays import read_members
from mlspl.datasets.files import check_archive, check_memory, explain_damage
from mlspl.datasets.loading import cache_folder, download_files
from mlspl.errors import UserError

# Numbers of types in MATLAB files, and what they are in NumPy.
_COMPRESSED, _SPARSE = 15, 5
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CHUNK = 2**24

_CHEXPERT = (
    "https://raw.githubusercontent.com/rajpurkarlab/cheXpert-test-set-labels/"
    "a930205df292983a4bc9362ea80847e3e41f6857"
)
_FINDINGS = ["Cardiomegaly", "Edema", "Consolidation", "Atelectasis", "Pleural Effusion"]
_NETWORKS = [
    *(f"example_models/predictions/standard/{name}_predictions.csv" for name in (
        "drnet", "hieupham", "ihil", "ngango2", "ngango3", "sensexdr", "uestc", "yww211")),
    *(f"predictions/standard/{name}_predictions.csv" for name in ("desmond", "jfaboy")),
]  # fmt: skip
_LABELER, _TRUTH = "labeler/chexpert_labels.csv", "groundtruth.csv"
_RADIOLOGISTS = "radiologists/benchmark_radiologists"
ADDRESSES = {
    "chexpert": {
        file: f"{_CHEXPERT}/{file}" for file in (*_NETWORKS, _LABELER, _TRUTH, f"{_RADIOLOGISTS}/bc4.csv")
    },
    "opp115": {"OPP-115_v1_0.zip": "https://usableprivacy.org/static/data/OPP-115_v1_0.zip"},
    "varierr": {
        "varierr.json": "https://raw.githubusercontent.com/mainlp/VariErr-NLI/"
        "b2cbdd3bc3ca2a618fc16ac078f471623152c923/varierr.json"
    },
}
"""Where files can be downloaded. No checksums are published; what arrived is shown."""


@dataclass(frozen=True)
class NoisyLabels:
    """Labels that people or programs gave, and the truth as others settled it.

    `X` holds features (n, d) or a list of texts; `given` and `truth` are 0 or 1 of shape (n, L), the truth
    NaN where it is not settled. Rows of the same `groups`, such as parts of a document, are not independent.
    """

    name: str
    X: Any
    given: NDArray[np.int64]
    truth: NDArray[np.float64]
    label_names: list[str]
    groups: NDArray | None = None

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Pairs with a settled truth that is not the given label, (n, L)."""
        return ~np.isnan(self.truth) & (self.given != self.truth)


def load_noisy_labels(
    name: str, annotator: str | None = None, folder: str | PathLike | None = None
) -> NoisyLabels:
    """Load a data set with real label errors.

    Parameters
    ----------
    name : str
        - ``"chexpert"``: chest radiographs, scores of ten networks as features; given by an automatic
          labeler or one radiologist, truth is the majority of five others.
        - ``"opp115"``: parts of 115 privacy policies; given by one of three annotators, truth is settled
          where the two others agree.
        - ``"varierr"``: sentence pairs of VariErr-NLI; truth, known for given labels only, is whether they
          were validated in a second round.
        - any other name: a partial multi-label set, ``<name>.mat`` (version 5 to 7) with ``data``, ``target``
          and ``partial_labels``, or ``<name>.npz`` with ``X``, ``given`` and ``truth``.
    annotator : str, optional
        Whose labels are the given ones. chexpert: ``"labeler"`` (default) or a radiologist; opp115: ``"1"``
        (default), ``"2"`` or ``"3"``.
    folder : path, optional
        Holds the files as published, or a prepared ``<name>.csv``, directly or in a subfolder ``<name>``.
        Next, ``$MLSPL_REAL`` and the user's cache are searched; then the first three are downloaded.

    Examples
    --------
    >>> load_noisy_labels("opp115", annotator="2").wrong.mean()  # doctest: +SKIP
    """
    readers = {"chexpert": _read_chexpert, "opp115": _read_opp115, "varierr": _read_varierr}
    source = _locate(name, folder)
    with explain_damage(source, f"{name} as published or prepared"):
        return readers.get(name, _read_partial)(source, name, annotator)


def _locate(name: str, folder: str | PathLike | None) -> Path:
    """Return the file or folder of a data set; downloaded if it is nowhere."""
    if not re.fullmatch(r"[\w.-]+", name):
        raise UserError(f"name={name!r}: a data set is named by letters, digits, '-', '_' and '.'.")
    files = ADDRESSES.get(name, {})
    # One file is read itself, of several their folder, which is recognised by the last one.
    last = next(reversed(files), "")
    homes = [Path(home) for home in (folder, os.environ.get("MLSPL_REAL"), cache_folder()) if home]
    for place in [place for home in homes for place in (home, home / name)]:
        for file in (f"{name}.csv", f"{name}.npz", f"{name}.mat", last):
            if file and (place / file).is_file():
                return place if file == last and len(files) > 1 else place / file
        if name == "opp115" and (place / "OPP-115" / "annotations").is_dir():
            return place / "OPP-115"
    if not files:
        places = ", ".join(map(str, homes))
        raise UserError(
            f"{name}.mat and {name}.npz are in none of {places}. Put the file there, or give `folder`."
        )
    target = cache_folder() / name
    download_files(files, target)
    return target if len(files) > 1 else target / last


def _read_chexpert(source: Path, name: str, annotator: str | None) -> NoisyLabels:
    who = annotator or "labeler"
    if source.is_file():
        table = pd.read_csv(source)
        scores = table.filter(regex=r"^network_\d+: ").to_numpy(float)
        given, truth = (table[[f"{part}: {f}" for f in _FINDINGS]].to_numpy(float) for part in (who, "truth"))
    else:
        paths = {"labeler": _LABELER, "radiologist_1": f"{_RADIOLOGISTS}/bc4.csv"}
        files = (_TRUTH, paths.get(who, f"{_RADIOLOGISTS}/{who}.csv"), *_NETWORKS)
        truth_table, *tables = (_read_studies(source / file) for file in files)
        truth = truth_table.to_numpy(float)
        given, *parts = (table.loc[truth_table.index].to_numpy(float) for table in tables)
        # The labeler leaves findings empty that a report does not mention, and writes -1 for uncertain ones.
        given, scores = given == 1, np.hstack(parts)
    X = logit(np.clip(scores, 1e-4, 1 - 1e-4))
    return NoisyLabels(f"{name}, {who}", X, given.astype(int), truth, list(_FINDINGS))


def _read_studies(path: Path) -> pd.DataFrame:
    """Return the five findings by patient."""
    table = pd.read_csv(path)
    patient = table["Study"].str.extract(r"(patient\d+)", expand=False)
    return table[_FINDINGS].set_axis(patient, axis=0)


def _read_opp115(source: Path, name: str, annotator: str | None) -> NoisyLabels:
    who = annotator or "1"
    if who not in ("1", "2", "3"):
        raise UserError(f"annotator={who!r}: OPP-115 has the annotators '1', '2' and '3'. Choose one.")
    if source.suffix == ".csv":
        table = pd.read_csv(source, keep_default_na=False)
        sets = [[set(filter(None, cell.split("|"))) for cell in table[f"annotator_{k}"]] for k in (1, 2, 3)]
        texts, groups = table["text"].tolist(), table["policy"].to_numpy()
    else:
        texts, groups, sets = _read_policies(source)
    names = sorted(set().union(*(labels for annotated in sets for labels in annotated)))
    labels = np.array([_as_table(annotated, names, source) for annotated in sets])
    first, second = np.delete(labels, int(who) - 1, axis=0)
    truth = np.where(first == second, first, np.nan)
    return NoisyLabels(f"{name}, annotator {who}", texts, labels[int(who) - 1], truth, names, groups)


def _read_policies(source: Path):
    """Return texts, policies and label sets by annotator from the published archive, packed or not."""
    root: Any = source
    if source.is_file():
        check_archive(source, "the policies")
        root = zipfile.Path(source)
    if not (root / "annotations").is_dir():
        root = root / "OPP-115"
    texts: list[str] = []
    groups: list[str] = []
    sets: tuple[list, ...] = ([], [], [])
    for page in sorted((root / "sanitized_policies").iterdir(), key=lambda path: path.name):
        policy = page.name.removesuffix(".html")
        segments = [
            re.sub(r"<[^>]+>|\s+", " ", part) for part in page.read_text(encoding="utf-8").split("|||")
        ]
        with (root / "annotations" / f"{policy}.csv").open(encoding="utf-8") as file:
            table = pd.read_csv(file, header=None, usecols=[2, 4, 5], names=range(9))
        people = sorted(table[2].unique())
        if len(people) != 3:
            raise ValueError(f"{policy} has {len(people)} annotators, not 3")
        for k, person in enumerate(people):
            part = table[table[2] == person]
            chosen = part.groupby(4)[5].agg(set).to_dict()
            sets[k].extend(chosen.get(number, set()) for number in range(len(segments)))
        texts += segments
        groups += [policy] * len(segments)
    return texts, np.array(groups), sets


def _as_table(sets: list[set], names: list[str], source: Path) -> NDArray[np.int64]:
    """Return 1 for the labels of each row and 0 for the others, (rows, labels)."""
    if not names:
        raise ValueError("there are no labels")
    check_memory(32.0 * len(sets) * len(names), source, f"{len(sets)} rows × {len(names)} labels")
    return np.array([[label in row for label in names] for row in sets], dtype=int)


def _read_varierr(source: Path, name: str, annotator: str | None) -> NoisyLabels:
    content = source.read_text(encoding="utf-8")
    rows = json.loads(content) if content.lstrip().startswith("[") else map(json.loads, content.splitlines())
    rows = [row for row in rows if row]
    first, second = ([set(row[f"label_set_round_{k}"]) for row in rows] for k in (1, 2))
    names = sorted(set().union(*first, *second))
    given, valid = (_as_table(sets, names, source) for sets in (first, second))
    texts = [f"{row['context']} || {row['statement']}" for row in rows]
    return NoisyLabels(name, texts, given, np.where(given == 1, valid, np.nan), names)


def _read_partial(source: Path, name: str, annotator: str | None) -> NoisyLabels:
    if source.suffix == ".npz":
        arrays = read_members(source)
        X, given, truth = (arrays[key] for key in ("X", "given", "truth"))
    else:
        arrays = _read_matlab(source, ("data", "target", "partial_labels"))
        X, truth, given = (arrays[key] for key in ("data", "target", "partial_labels"))
        # Labels are published with a row per label or per instance.
        given, truth = (part if len(part) == len(X) else part.T for part in (given, truth))
    if X.ndim != 2 or given.shape != truth.shape or given.shape[0] != len(X):
        raise ValueError(f"the shapes are {X.shape}, {given.shape} and {truth.shape}")
    given, truth = (np.where(part > 0, 1, 0) for part in (given, truth))
    return NoisyLabels(
        name, X.astype(float), given, truth.astype(float), [str(k) for k in range(given.shape[1])]
    )


def _read_matlab(source: Path, names: Collection[str]) -> dict[str, NDArray]:
    """Return arrays of numbers of a MATLAB file of version 5 to 7; a forged one can crash SciPy's reader."""
    content = source.read_bytes()
    order = "<" if content[126:128] == b"IM" else ">"
    size, arrays = 0, {}
    for kind, part in _split_matlab(content[128:], order):
        if kind == _COMPRESSED:
            expander, chunks = zlib.decompressobj(), []
            while part and not expander.eof:
                chunks.append(expander.decompress(part, _CHUNK))
                size += len(chunks[-1])
                check_memory(size, source, "the decompressed content")
                part = expander.unconsumed_tail
            part = b"".join(chunks)[8:]
        parts = list(_split_matlab(part, order))
        name = parts[2][1].decode()
        if name not in names:
            continue
        flags, shape, _, *values = (np.frombuffer(part, order + _NUMBERS[kind]) for kind, part in parts)
        if flags[0] & 0xFF == _SPARSE:
            raise ValueError(f"{name} is sparse; save full({name})")
        (numbers,) = values
        arrays[name] = numbers.reshape(shape.tolist(), order="F")
    return arrays


def _split_matlab(content: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield the type and the bytes of each element."""
    place = 0
    while place + 8 <= len(content):
        kind, length = np.frombuffer(content, order + "u4", 2, place).tolist()
        if kind >> 16:  # a number of up to four bytes lies in place of its length
            yield kind & 0xFFFF, content[place + 4 : place + 4 + (kind >> 16)]
            length = 0
        else:
            yield kind, content[place + 8 : place + 8 + length]
        place += 8 + length + (-length % 8 if kind != _COMPRESSED else 0)
