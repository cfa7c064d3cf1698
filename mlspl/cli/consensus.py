"""`mlspl consensus`: one label set per row from those of several annotators."""

from io import StringIO
from pathlib import Path
from typing import Annotated

from rich.console import Console

from mlspl._files import write_file
from mlspl._names import split_names
from mlspl._text import safe_csv, shown
from mlspl.cli import files, output
from mlspl.cli.options import ForceOption, Reading, SeedOption, argument, flag, option, with_reading
from mlspl.cli.votes import AnnotatorsOption, SkipEmptyOption, VotesOption, annotator_table, read_annotations


@with_reading("label_sep", "text", "categorical", "numeric", "drop")
def consensus(
    data: Annotated[Path, argument("DATA", "A CSV file with commas, semicolons or tabs.")],
    out: Annotated[
        Path, option("FILE", "File to write: DATA, with the consensus in the column `labels`.", "--out", "-o")
    ],
    reading: Reading,
    annotators: AnnotatorsOption = "",
    votes: VotesOption = None,
    ids: Annotated[str | None, option("COLUMN", "Names the rows, in DATA and --votes.")] = None,
    skip_empty: SkipEmptyOption = False,
    votes_only: Annotated[bool, flag("--votes-only", "Do not learn from the other columns of DATA.")] = False,
    seed: SeedOption = 0,
    force: ForceOption = False,
) -> None:
    """Infer the labels of each row from those of several annotators.

    An annotator's cell is a label set such as a|b, or ? or NA if the row was not
    judged. A model of the other columns counts as one more annotator.

    Tables next to the output: .weights.csv, how sure each label is;
    .annotators.csv, sensitivity and specificity; .agreement.csv, Krippendorff's
    alpha; .review.csv, the labels most worth another opinion (rows from 0).
    """
    import pandas as pd

    from mlspl._label_sets import label_sets, write_set
    from mlspl.curriculum import consensus as infer
    from mlspl.datasets import read_unlabelled
    from mlspl.pages import read_cells
    from mlspl.recipes import Schema, encode_table

    parts = ("weights", "annotators", "agreement", "review")
    targets = [out, *(out.parent / f"{out.stem}.{part}.csv" for part in parts)]
    for target in targets:
        files.check_target(target, [data, votes], force)
    separator = reading.label_sep or "|"
    table = read_cells(data, *([ids] if ids else [])).reset_index(drop=True)
    annotations, columns = read_annotations(table, data, annotators, votes, ids, separator, skip_empty)
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
    console.print(annotator_table(found))
    console.print(shown(f"Wrote {', '.join(map(str, targets))}"), soft_wrap=True)
