"""`mlspl audit`: which labels of a file are probably wrong, and a page to review them on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from rich.console import Console
from rich.text import Text

from mlspl._files import OutputFolder
from mlspl._text import printable, shown
from mlspl.cli import files, options, output
from mlspl.cli.options import ForceOption, Reading, argument, flag, option, with_reading
from mlspl.cli.votes import AnnotatorsOption, SkipEmptyOption, VotesOption, annotator_table, read_annotations
from mlspl.errors import UserError, guess_column, listed, shorten

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from mlspl.curriculum import Audit
    from mlspl.datasets import Dataset

_MOST_SHOWN = 10
_FEWEST_ROWS = 5  # as many as folds
_SHARES = (0.25, 0.5, 0.75, 0.9)


@with_reading()
def audit(
    data: Annotated[str, argument("DATA", "A file as for `mlspl fit`; - is stdin; or a data set's name.")],
    out: Annotated[Path, option("DIR", "Output folder for the page and the tables.", "--out", "-o")],
    reading: Reading,
    show: Annotated[str | None, option("COLUMN", "Column to show: text, or file names of images.")] = None,
    pictures: Annotated[
        Path | None, option("DIR", "Folder of the images that --show names; by default that of DATA.")
    ] = None,
    embed: Annotated[bool, flag("--embed", "Embed the images in the page instead of linking them.")] = False,
    ids: Annotated[str | None, option("COLUMN", "Column with names of the rows, not a feature.")] = None,
    method: Annotated[
        str | None,
        option(
            "METHOD",
            "Predicts the labels; as in `mlspl fit`. Default: a mean of three models; for text a linear one.",
        ),
    ] = None,
    parameters: options.SetOption = None,
    space: options.SpaceOption = None,
    probabilities: Annotated[
        Path | None,
        option("FILE", "Out-of-fold probabilities of your own model: rows as in DATA, one column per label."),
    ] = None,
    annotators: AnnotatorsOption = "",
    votes: VotesOption = None,
    skip_empty: SkipEmptyOption = False,
    reviewed: Annotated[
        Path | None,
        option(
            "FILE",
            "decisions.csv of an earlier review: improves the estimates; its pairs are not listed again.",
        ),
    ] = None,
    most: Annotated[int, option("N", "Also list the N most probable missing labels.", min=0)] = 500,
    export: Annotated[
        Literal["label-studio"] | None, option(None, "Also write suspected rows as tasks for this program.")
    ] = None,
    seed: options.SeedOption = 0,
    force: ForceOption = False,
) -> None:
    """Find labels that are probably wrong, and write a page for reviewing them.

    Each given label is compared with out-of-sample predictions. Open audit.html
    in a browser, decide, export, and apply your decisions by `mlspl correct`.
    The tables issues.csv, labels.csv and rows.csv count rows from 0.

    If several people annotated the rows, name the columns of their labels
    (--annotators) or a file of their votes (--votes). --labels names the labels
    to audit: those of one of them, or of all.
    """
    import pandas as pd
    from scipy import sparse

    from mlspl._label_sets import LIST
    from mlspl.curriculum import audit as find_issues
    from mlspl.pages import (
        AUDIT_FILES,
        LABEL_STUDIO_FILES,
        read_cells,
        read_decisions,
        write_audit_folder,
        write_label_studio,
    )
    from mlspl.recipes import Recipe, encode_table, get_method

    if probabilities is not None and (method or parameters or space):
        raise UserError("--probabilities come from your own model: leave out --method, --set and --space.")
    inputs = list(files.input_files(data, reading.labels, probabilities, votes, reviewed))
    OutputFolder(out, inputs, force=force).check([*AUDIT_FILES, *(LABEL_STUDIO_FILES if export else ())])
    given_parameters = options.parse_parameters(parameters, space)
    if given_parameters and method is None:
        raise UserError("--set and --space are parameters of a method: name it by --method.")
    chosen = None if method is None else get_method(method).with_parameters(given_parameters)
    dataset = files.open_dataset(data, reading)
    decided = None if reviewed is None else read_decisions(reviewed, dataset)
    names = None if ids is None else [text or "" for text in dataset.texts(ids)]
    beside = Path(data).parent if Path(data).exists() else Path()
    texts, images = _read_shown(dataset, show, embed, pictures or beside, out)
    ignored, annotations = [] if ids is None else [ids], None
    if annotators or votes is not None:
        separator = reading.label_sep or dataset.label_joint.strip(f" {LIST}") or "|"
        cells = pd.DataFrame({ids: names}) if votes and ids else read_cells(Path(data))
        annotations, columns = read_annotations(cells, data, annotators, votes, ids, separator, skip_empty)
        annotations["labels"] = _keep_known(annotations["labels"], dataset.label_names)
        ignored += columns
    learnt = dataset.without(ignored)
    schema, table = files.match_columns(learnt, reading)
    console = Console(highlight=False)
    n_rows = dataset.Y.shape[0]
    console.print(shown(files.size_of(data, dataset, schema)), soft_wrap=True)
    if n_rows < _FEWEST_ROWS:
        raise UserError(f"{output.counted(n_rows, 'row')} cannot be audited: give {_FEWEST_ROWS} or more.")
    # The page shows features in their own units; models want those of a table on one scale.
    X, feature_names = encode_table(schema, table)
    scaled = X if schema.layout != "frame" else encode_table(schema, table, scale=True)[0]
    learnt_from, estimator = scaled, None
    if chosen is not None:
        learnt_from, estimator = table, Recipe(chosen, schema, seed).build(chosen.settings(""))
    if probabilities is not None:
        learnt_from, estimator = _read_probabilities(probabilities, dataset)
    Y: Any = dataset.Y
    given = pd.DataFrame(Y.toarray() if sparse.issparse(Y) else Y, columns=dataset.label_names)
    with output.notes(), output.exit_on_interrupt(f"nothing was written to {out}."):
        try:
            found = find_issues(
                learnt_from,
                given,
                estimator,
                n_jobs=-1,
                random_state=seed,
                verbose=1,
                reviewed=decided,
                annotations=annotations,
            )
        except UserError:
            raise
        except (ValueError, RuntimeError) as error:
            raise UserError(f"{files.file_name(data)} cannot be audited: {error}") from error
    shown_rows: dict[str, Any] = {"ids": names, "texts": texts, "images": images}
    shown_rows |= {"fingerprint": dataset.fingerprint(), "feature_names": feature_names}
    paths = write_audit_folder(
        out,
        found,
        X,
        name=files.file_name(data),
        options=reading.to_arguments(),
        most=most,
        inputs=inputs,
        force=force,
        **shown_rows,
    )
    if export:
        paths += write_label_studio(OutputFolder(out, inputs, force=force), found, X, **shown_rows)
    if found.annotators is not None:
        console.print(annotator_table(found.annotators), "")
    _print(found, names, console)
    page, *tables = (shown(str(path)) for path in paths)
    console.print(f"Wrote {', '.join(tables)}\nOpen {page} in a browser to review.", soft_wrap=True)


def _keep_known(label_sets: "pd.Series", names: list[str]) -> "pd.Series":
    """Return the label sets without the labels that are not among the names."""
    known = set(names)
    if others := sorted({label for labels in label_sets.dropna() for label in labels} - known):
        output.note(f"labels that only annotators gave are not audited: {listed(others)}.")
    return label_sets.map(lambda labels: labels and [label for label in labels if label in known])


def _read_probabilities(path: Path, dataset: "Dataset") -> "tuple[np.ndarray, Any]":
    """Return probabilities, and an estimator that gives them back."""
    import numpy as np
    from sklearn.base import BaseEstimator, ClassifierMixin

    from mlspl.datasets import read_unlabelled
    from mlspl.recipes import Schema

    class Given(ClassifierMixin, BaseEstimator):
        def fit(self, X: Any, Y: Any) -> "Given":
            self.classes_ = [0, 1]
            return self

        def predict_proba(self, X: Any) -> np.ndarray:
            return X

    with output.notes():
        rows = read_unlabelled(path, kinds=dict.fromkeys(dataset.label_names, "numeric"))
    names = dataset.label_names
    if missing := [name for name in names if name not in rows.feature_names]:
        hint = guess_column(missing[0], rows.feature_names)
        raise UserError(
            f"{path} has no column for the label {shorten(missing[0])!r}.{hint} Call columns as the labels."
        )
    table, _ = Schema(tuple(names), len(names)).match(rows)
    values = np.asarray(table, dtype=float)
    if len(values) != dataset.Y.shape[0]:
        raise UserError(
            f"{path} has {len(values)} rows and DATA has {dataset.Y.shape[0]}. Give the same rows."
        )
    if not ((values >= 0) & (values <= 1)).all():
        raise UserError(
            f"{path} holds values outside 0 to 1. Give the probability of every label of every row."
        )
    return values, Given()


def _read_shown(dataset: "Dataset", show: str | None, embed: bool, folder: Path, out: Path):
    """Return the texts, or else the pictures, of the column to show."""
    from mlspl.pages import find_pictures

    texts = None if show is None else dataset.texts(show)
    pictures, missing = find_pictures(texts or (), folder, None if embed else out)
    if pictures is None:
        if embed:
            raise UserError(
                "--embed is for pictures, and there are no file names of any. Name their column with --show."
            )
        return texts, None
    if missing:
        number = output.counted(len(missing), "picture")
        output.note(
            f"{number} of {show!r} not found below {folder} (see --pictures), such as {missing[0]!r}."
        )
    return None, pictures


def _print(found: "Audit", names: list[str] | None, console: Console) -> None:
    known = int((found.given >= 0).sum())
    errors = found.expected_errors
    console.print(
        f"About {errors:,.0f} of {known:,} given labels are probably wrong ({errors / max(known, 1):.1%}).\n"
    )
    labels = found.labels.assign(wrong=lambda table: table["expected_lost"] + table["expected_false"])
    form = {"prevalence": ".1%", "wrong": ".0f", "lost": ".1%", "false": ".1%", "auc": ".3f"}
    rows = (
        (name, *("–" if row[key] != row[key] else f"{row[key]:{how}}" for key, how in form.items()))
        for name, row in labels.sort_values("wrong", ascending=False).head(_MOST_SHOWN).iterrows()
    )
    more = f", the first {_MOST_SHOWN} of {len(labels)}" if len(labels) > _MOST_SHOWN else ""
    headings = ("label", "prevalence", "wrong", "lost", "false", "AUC")
    console.print(output.make_table(headings, rows, f"Labels by estimated noise{more}"), "")
    if not len(found.issues):
        return
    strongest = found.issues.head(_MOST_SHOWN).to_dict("records")
    rows = (
        (
            names[issue["row_number"]] if names else issue["row_number"],
            *(issue[key] for key in ("label", "given", "suggested")),
            f"{issue['suspicion']:.1%}",
            # One line, as much of it as the terminal has room for; issues.csv has it in full.
            Text(printable(issue["why"]), overflow="ellipsis", no_wrap=True),
        )
        for issue in strongest
    )
    headings = ("row", "label", "given", "probably", "suspicion", "why")
    table = output.make_table(headings, rows, "The strongest suspicions", left=2)
    table.columns[-1].justify = "left"
    for column in (*table.columns[:1], *table.columns[2:-1]):
        column.no_wrap = True
    console.print(table, "")
    # How many rows, the most suspected first, hold how many of the expected errors.
    expected = found.rows["expected_errors"].sort_values(ascending=False).cumsum().to_numpy()
    digits = 0 if expected[-1] >= 10 else 1
    numbers = [(share, int((expected < share * expected[-1]).sum()) + 1) for share in _SHARES]
    rows = ((f"{n:,}", f"{expected[n - 1]:,.{digits}f}", f"{share:.0%}") for share, n in numbers)
    table = output.make_table(("rows", "errors found, about", "of all"), rows, "How many rows to review")
    console.print(table, "")
