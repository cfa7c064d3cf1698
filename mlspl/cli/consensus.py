"""`mlspl consensus`: one label set per row from those of several annotators."""

from fnmatch import fnmatchcase
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from mlspl._files import write_file
from mlspl._names import split_names
from mlspl._text import safe_csv, shown
from mlspl.cli import files, output
from mlspl.cli.options import ForceOption, Reading, SeedOption, argument, flag, option, with_reading
from mlspl.errors import UserError, guess_column, listed

if TYPE_CHECKING:
    import pandas as pd

_NOT_JUDGED = ("?", "NA", "nan", "null")


@with_reading("label_sep", "text", "categorical", "numeric", "drop")
def consensus(
    data: Annotated[Path, argument("DATA", "A CSV file with commas, semicolons or tabs.")],
    out: Annotated[Path, option("FILE", "DATA with a column `labels` in place of theirs.", "--out", "-o")],
    reading: Reading,
    annotators: Annotated[
        str,
        option("COLUMNS", "Columns with a label set per annotator: a pattern such as 'rater_*', or names."),
    ] = "",
    votes: Annotated[
        Path | None,
        option("FILE", "Instead: a CSV file with the columns annotator, labels and that of --ids."),
    ] = None,
    ids: Annotated[str | None, option("COLUMN", "Names the rows, in DATA and --votes.")] = None,
    skip_empty: Annotated[bool, flag("--skip-empty", "An empty label set means: not judged.")] = False,
    votes_only: Annotated[bool, flag("--votes-only", "Do not learn from the other columns of DATA.")] = False,
    seed: SeedOption = 0,
    force: ForceOption = False,
) -> None:
    """Infer the labels of each row from those of several annotators.

    Sets of labels are written as a|b (see --label-sep). A cell such as ? or NA
    is a row that the annotator did not judge. Models of the other columns
    count as one more opinion. Tables are written next to FILE: .weights.csv,
    how sure each label is; .annotators.csv, how good each annotator is over all
    labels and for each; .agreement.csv, alpha of each label; .review.csv, which
    labels are most worth another opinion (rows are counted from 0).
    """
    import pandas as pd

    from mlspl._label_sets import label_sets, write_set
    from mlspl.curriculum import consensus as infer
    from mlspl.datasets import read_unlabelled
    from mlspl.pages import read_cells
    from mlspl.recipes import Schema, encode_table

    if bool(annotators) == (votes is not None):
        raise UserError("say who annotated: give --annotators for columns of DATA, or --votes for a file.")
    if votes is not None and ids is None:
        raise UserError("--votes needs --ids, the column that names the rows in both files.")
    parts = ("weights", "annotators", "agreement", "review")
    targets = [out, *(out.with_name(f"{out.stem}.{part}.csv") for part in parts)]
    for target in targets:
        files.check_target(target, [data, votes], force)
    separator = reading.label_sep or "|"
    table = read_cells(data, *([ids] if ids else [])).reset_index(drop=True)
    columns = _matching(table, annotators, data) if annotators else []
    if votes is None:
        given = {name: table[name] for name in columns}
    else:
        lines = read_cells(votes, ids or "", "annotator", "labels")
        index = pd.Index(table[ids])
        if not index.is_unique:
            raise UserError(
                f"{data} has {index[index.duplicated()][0]!r} twice in {ids!r}. Ids must be unique."
            )
        lines = lines.assign(row=index.get_indexer(lines[ids]))
        if (unknown := lines["row"] < 0).any():
            raise UserError(
                f"--votes has the id {lines[ids][unknown].iloc[0]!r}, which {data} does not have."
            )
        if (twice := lines.duplicated(["row", "annotator"])).any():
            row, who = lines.loc[twice.idxmax(), [ids, "annotator"]]
            raise UserError(f"--votes: annotator {who!r} has the id {row!r} twice. Keep one of them.")
        given = {str(who): part["labels"] for who, part in lines.set_index("row").groupby("annotator")}

    def split(cell: str) -> list[str] | None:
        labels = [part.strip() for part in cell.split(separator) if part.strip()]
        return None if cell.strip() in _NOT_JUDGED or (skip_empty and not labels) else labels

    annotations = pd.concat(
        pd.DataFrame({"row": cells.index, "annotator": who, "labels": cells.map(split).to_numpy()})
        for who, cells in given.items()
    )
    with output.notes():
        ignored = {*columns, *([ids] if ids else []), *split_names(reading.drop)}
        X = None
        if not votes_only:
            features = read_unlabelled(data, ignored, kinds=reading.kinds)
            schema = Schema.from_dataset(features, text=reading.text_columns)
            if schema.n_features:
                X, _ = encode_table(schema, schema.match(features)[0], scale=schema.layout == "frame")
        found = infer(X, annotations, random_state=seed, n_jobs=-1)
    labels, weights = (part.reindex(table.index) for part in (found.labels, found.weights))
    sets = label_sets(labels.to_numpy(), list(labels.columns))
    known = labels.notna().any(axis=1)
    cells = [write_set(row, separator) if judged else "?" for row, judged in zip(sets, known, strict=True)]
    result = table.drop(columns=[*columns, *({"labels"} & set(table.columns))]).assign(labels=cells)
    result.to_csv(buffer := StringIO(), index=False, lineterminator="\n")
    write_file(out, buffer.getvalue())
    people = pd.concat([found.annotators.reset_index(), found.annotators_by_label.reset_index()])
    people.insert(1, "label", people.pop("label").fillna(""))
    people = people.astype({"rows": "Int64", "shared": "Int64"})
    review = found.review()
    if ids:
        review.insert(1, "id", table[ids].iloc[review["row"]].to_numpy())
    tables = (weights.fillna(0.0), people, found.agreement.reset_index(), review.fillna({"ask": ""}))
    for target, part in zip(targets[1:], tables, strict=True):
        write_file(target, safe_csv(part.round(4), lineterminator="\n"))
    console = Console(highlight=False)
    console.print(shown(f"{files.file_name(str(data))}: {found!r}"), soft_wrap=True)
    rates = ("sensitivity", "specificity")
    rows = (
        (name, row["rows"], *(f"{row[r]:.2f} ({row[r + '_low']:.2f}–{row[r + '_high']:.2f})" for r in rates))
        for name, row in found.annotators.astype({"rows": object}).iterrows()
    )
    console.print(output.make_table(("annotator", "rows", *rates), rows, "Annotators, with 95 % intervals"))
    console.print(shown(f"Wrote {', '.join(map(str, targets))}"), soft_wrap=True)


def _matching(table: "pd.DataFrame", annotators: str, path: Path) -> list[str]:
    """Return the columns that the names and patterns mean."""
    found = []
    for name in split_names(annotators) or [annotators]:
        matching = [column for column in table.columns if name == column or fnmatchcase(column, name)]
        if not matching:
            raise UserError(
                f"unknown annotator: {path} has no column {name!r}.{guess_column(name, table.columns)} "
                f"Its columns are {listed(list(table.columns))}."
            )
        found += matching
    return list(dict.fromkeys(found))
