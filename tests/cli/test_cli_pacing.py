import subprocess
import sys

import pytest
from typer.testing import CliRunner

from mlspl import pacing
from mlspl.cli.pacing import app
from mlspl.errors import UserError


def run(*arguments):
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_list_names_every_function_and_who_breaks_a_condition():
    lines = {line.split()[0]: line for line in run("list").splitlines() if line.strip()}
    assert set(pacing.names()) <= set(lines)
    assert "2/(1 + e^(l/λ))" in lines["sigmoid"]
    assert lines["sigmoid"].split()[-1] == "hold"
    assert "(3) fails" in lines["arctan"]


def test_verify_prints_the_condition_that_fails_with_its_witness():
    output = run("verify", "arctan")
    assert "FAILS  at l = 1, λ = 1e-100: v* = 0.25\n" in output
    assert output.count("holds") == 11
    assert output.startswith("Arctan(): 1 of 12 conditions fails.\n")


def test_derive_prints_the_gaussians_penalty_in_latex():
    output = run("derive", "exp(-t**2)", "--family", "scale", "--latex")
    assert output.startswith(r"\begin{align*}")
    assert r"\frac{\sqrt{\pi} \operatorname{erf}{\left(\sqrt{- \ln{\left(v \right)}} \right)}}{2}" in output


def test_derive_prints_formulas_and_conditions_and_draws(tmp_path):
    output = run("derive", "1/(1+exp(2*t))", "--family", "shift", "--out", str(tmp_path / "curve.svg"))
    assert "v*(l, λ) = 1/(exp(2*l - 2*λ) + 1)\n" in output
    assert "f(v, λ)  = -λ*v + v*log(v)/2 + (1/2 - v/2)*log(1 - v)\n" in output
    assert "1 of 12 conditions fails" in output
    assert f"Wrote {tmp_path / 'curve.svg'}\n" in output
    assert (tmp_path / "curve.svg").stat().st_size > 1000


def test_derive_says_what_it_did_not_find():
    assert "s(v, λ)  = (computed; no closed form found)" in run("derive", "(1+t)*exp(-t)")


def test_plot_draws_the_papers_four_unless_told_otherwise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("plot") == "Wrote self_paced_functions.png\n"
    four = (tmp_path / "self_paced_functions.png").read_bytes()
    run("plot", "arctan", "sigmoid", "tanh", "exponential", "--out", "again.png")
    assert (tmp_path / "again.png").read_bytes() == four
    run("plot", "cauchy", "--pace", "1", "--pace", "3", "--max-loss", "5", "-o", "one.svg")
    page = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert "cauchy" in page


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("verify", "arctn"), "Did you mean 'arctan'"),
        (("derive", "__import__('os')+t"), "made of"),
        (("derive", "t/(1+t)"), "the curve increases"),
        (("plot", "arctan", "--out", "x.bmp"), "x.bmp"),
    ],
)
def test_mistakes_are_the_users(arguments, sentence):
    with pytest.raises(UserError, match=sentence):
        run(*arguments)


def test_from_the_shell_a_mistake_is_a_sentence_and_code_2():
    command = [sys.executable, "-m", "mlspl", "pacing", "derive", "exp(t)"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: the curve leaves [0, 1]: it is ")
    assert "Traceback" not in result.stderr
