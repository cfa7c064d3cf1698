"""`mlspl evaluate`: the metrics of the predictions, overall and for every label."""

import json

import numpy as np
import pandas as pd

from mlspl import load_model, metrics
from mlspl.datasets import read_dataset
from tests.model_files import rewritten
from tests.songs import table


def test_evaluate_is_the_metrics_of_the_predictions(fitted, tmp_path):
    code, out, errors = fitted("evaluate", "songs.skops", "songs.csv", "-o", "scores.json")
    assert (code, errors) == (0, "")
    data = read_dataset(tmp_path / "songs.csv", labels=-3)
    model, frame = load_model(tmp_path / "songs.skops"), pd.read_csv(tmp_path / "songs.csv")
    F, P = model.decision_function(frame), model.predict(frame)
    written = json.loads((tmp_path / "scores.json").read_text())
    assert np.isnan(data.Y).any()
    assert written["overall"] == metrics.Tally().add(data.Y, F, P).scores()
    by_label = metrics.score_labels(data.Y, F, P)
    for j, name in enumerate(data.label_names):
        assert written["labels"][name] == {key: values[j] for key, values in by_label.items()}
    printed = {line.rsplit(maxsplit=2)[0]: line.split()[-1] for line in out.splitlines() if "er  " in line}
    assert printed["hamming loss"] == f"{written['overall']['hamming_loss']:.4f}"
    assert printed["macro F1"] == f"{written['overall']['macro_f1']:.4f}"
    fitted("evaluate", "songs.skops", "songs.csv", "-o", "scores.csv")
    rows = table((tmp_path / "scores.csv").read_text())
    assert rows[0] == ["label", "criterion", "value"]
    assert ["", "hamming_loss", repr(written["overall"]["hamming_loss"])] in rows
    assert ["calm", "recall", repr(written["labels"]["calm"]["recall"])] in rows


def test_labels_in_another_order_are_scored_by_name(fitted, tmp_path):
    frame = pd.read_csv(tmp_path / "songs.csv")
    frame[["dance", "calm", "tempo", "happy", "loud", "key"]].to_csv(tmp_path / "turned.csv", index=False)
    first, second = (fitted("evaluate", "songs.skops", name)[1] for name in ("songs.csv", "turned.csv"))
    assert first.partition("\n")[2] == second.partition("\n")[2]


def test_what_is_not_defined_is_a_dash_and_a_null(fitted, tmp_path):
    given = "key,loud,tempo,happy,calm,dance\nC,-5,120,1,0,1\nF,-5,130,1,0,1\n"
    code, out, _ = fitted("evaluate", "songs.skops", "-", "-o", "scores.json", given=given)
    assert code == 0
    assert "–" in out
    assert json.loads((tmp_path / "scores.json").read_text())["labels"]["calm"]["auc"] is None


def test_scores_go_to_standard_output_and_the_tables_to_standard_error(fitted):
    code, out, errors = fitted("evaluate", "songs.skops", "songs.csv", "-o", "-")
    assert code == 0
    assert json.loads(out)["overall"]["hamming_loss"] < 0.5
    assert "hamming loss" in errors


def test_a_model_file_does_not_choose_a_file_to_read(fitted, tmp_path):
    """A column of label sets whose name ends in .xml was taken for a path."""
    (tmp_path / "private.xml").write_text('<labels><label name="SECRET"/></labels>')
    reading = {"label_column": str(tmp_path / "private.xml")}
    path = rewritten(tmp_path / "songs.skops", tmp_path, info={"summary": {"reading": reading}})
    code, _, errors = fitted("evaluate", path, "songs.csv")
    assert (code, "SECRET" in errors, "column" in errors) == (2, False, True)
