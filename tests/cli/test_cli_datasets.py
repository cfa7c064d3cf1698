"""`mlspl datasets` as a user meets it: what is printed, what is written, and the exit code."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from mlspl.cli import main as cli
from mlspl.cli.options import parse_labels
from mlspl.datasets import load_dataset, read_dataset, write_dataset
from tests.frames import nominal_of

TABLE = "size,colour,sea,sand\n1.5,red,0,1\n2,green,1,1\n,blue,1,0\n"


@pytest.fixture
def mlspl(monkeypatch, capsys):
    """Run the command; give its exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["mlspl", "datasets", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    monkeypatch.delenv("MLSPL_DATA", raising=False)
    monkeypatch.setattr("mlspl.datasets.loading.pooch.os_cache", lambda project: tmp_path / project)


def cells(output, first):
    """The cells of the row that starts with `first`."""
    rows = [re.split(r"\s{2,}", line.strip()) for line in output.splitlines()]
    return next(row[1:] for row in rows if row and row[0] == first)


def test_list_says_what_is_here(mlspl, nowhere):
    code, output, _ = mlspl("list")
    assert code == 0
    assert cells(output, "digits-traits") == ["images", "embedded", "1797", "64", "8", "3.29"]
    assert cells(output, "tmc2007-500") == ["text", "no", "28596", "500", "22", "2.16"]


def test_list_finds_the_files_in_the_environment(mlspl, data_home):
    code, output, _ = mlspl("list")
    assert (code, cells(output, "scene")[1]) == (0, "yes")


def test_info_of_a_name(mlspl):
    code, output, _ = mlspl("info", "digits-traits")
    assert code == 0
    assert cells(output, "rows") == ["1797"]
    assert cells(output, "label sets") == ["10"]
    assert cells(output, "even") == ["891", "49.6%", "1.01"]


def test_info_of_emotions_is_that_of_the_literature(mlspl, data_home):
    code, output, _ = mlspl("info", "emotions")
    assert code == 0
    assert cells(output, "cardinality") == ["1.86847"]
    assert cells(output, "density") == ["0.311411"]
    assert cells(output, "label sets") == ["27"]


@pytest.mark.parametrize("suffix", [".arff", ".csv", ".tsv", ".parquet", ".svm"])
def test_info_of_a_file_of_each_format(mlspl, tmp_path, suffix):
    write_dataset(load_dataset("digits-traits"), tmp_path / f"digits{suffix}")
    code, output, _ = mlspl("info", tmp_path / f"digits{suffix}")
    assert code == 0
    assert cells(output, "labels") == ["8"]
    assert cells(output, "prime") == ["721", "40.1%", "1.24"]


@pytest.mark.parametrize("labels", ["sea,sand", "s[ea]*[ad]", "-2"])
def test_labels_of_a_file_are_named_on_the_command_line(mlspl, tmp_path, labels):
    (tmp_path / "beach.csv").write_text(TABLE)
    code, output, _ = mlspl("info", tmp_path / "beach.csv", f"--labels={labels}")
    assert code == 0
    assert cells(output, "sea")[0] == cells(output, "sand")[0] == "2"
    assert cells(output, "missing features") == ["1"]


def test_many_labels_are_cut_unless_all_are_asked_for(mlspl, tmp_path):
    names = [f"label{j}" for j in range(30)]
    (tmp_path / "many.csv").write_text(",".join(["x", *names]) + "\n" + ",".join(["1"] * 31) + "\n")
    code, output, _ = mlspl("info", tmp_path / "many.csv", "--labels", "label*")
    assert (code, sum(name in output.split() for name in names)) == (0, 20)
    assert "10 more, shown by --all" in output
    output = mlspl("info", tmp_path / "many.csv", "--labels", "label*", "--all")[1]
    assert sum(name in output.split() for name in names) == 30


def test_convert_keeps_categories_where_the_format_can(mlspl, tmp_path):
    (tmp_path / "beach.csv").write_text(TABLE)
    code, output, _ = mlspl("convert", tmp_path / "beach.csv", tmp_path / "out.arff", "--labels", "sea,sand")
    assert code == 0
    assert "Wrote " in output
    assert nominal_of(read_dataset(tmp_path / "out.arff", encode=False)) == {
        "colour": ("blue", "green", "red")
    }
    assert mlspl("convert", tmp_path / "out.arff", tmp_path / "out.svm")[0] == 0
    read = read_dataset(tmp_path / "out.svm")
    assert read.feature_names == ["size", "colour=blue", "colour=green", "colour=red"]
    np.testing.assert_array_equal(read.X.toarray()[2], [np.nan, 1, 0, 0])


def test_text_that_is_left_out_is_noted(mlspl, tmp_path):
    header = "@relation r\n@attribute t string\n@attribute x numeric\n@attribute y {0,1}\n@data\n"
    (tmp_path / "r.arff").write_text(header + "abc,1,1\n")
    code, _, errors = mlspl("convert", tmp_path / "r.arff", tmp_path / "r.svm", "--labels=-1")
    assert code == 0
    assert "note:" in errors
    assert "'t'" in errors


def test_fetch_of_what_is_here_says_where(mlspl, data_home):
    code, output, _ = mlspl("fetch", "flags", "digits-traits")
    assert code == 0
    assert str(Path("flags") / "flags.arff") in output
    assert "embedded" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "emotion"], "Did you mean 'emotions'?"),
        (["info", "nowhere.arff"], "nowhere.arff is not a file"),
        (["info", "digits-traits", "--labels", "3"], "your own files"),
        (["fetch", "flags", "floops"], "no data set is called 'floops'"),
        (["convert", "digits-traits", "missing/out.csv"], "does not exist"),
        (["convert", "digits-traits", "out.xlsx"], "suffix"),
    ],
)
def test_mistakes_end_with_a_sentence_and_code_2(mlspl, nowhere, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, output, errors = mlspl(*arguments)
    assert code == 2
    assert message in errors
    assert "Traceback" not in errors + output


def test_a_damaged_file_is_named_with_its_line(mlspl, tmp_path):
    (tmp_path / "beach.csv").write_text(TABLE + "1,2\n")
    code, _, errors = mlspl("info", tmp_path / "beach.csv", "--labels=-2")
    assert code == 2
    assert "beach.csv, line 5: 2 values under 4 names" in errors


@pytest.mark.parametrize("command", ["list", "info", "fetch", "convert"])
def test_help_has_an_example(mlspl, command):
    code, output, _ = mlspl(command, "--help")
    assert code == 0
    assert f"Example: mlspl datasets {command}" in output


@pytest.mark.parametrize(
    ("text", "labels"),
    [(None, None), ("3", 3), ("-2", -2), ("a,b", "a,b"), ("a*", "a*"), ("a.xml", "a.xml")],
)
def test_what_the_labels_option_means(text, labels):
    assert parse_labels(text) == labels
