import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from mlspl import pacing
from mlspl.errors import UserError


def test_the_lines_are_the_functions():
    figure = pacing.plot(["sigmoid", "huber"], paces=[0.5, 2.0], max_loss=3.0)
    top, other, bottom, _ = figure.axes
    assert [axes.get_title() for axes in (top, other)] == ["sigmoid", "huber"]
    for axes, method in ((top, "weight"), (bottom, "penalty")):
        lines = [line for line in axes.get_lines() if len(line.get_xdata()) > 1]
        for line, pace in zip(lines, (0.5, 2.0), strict=True):
            x, y = line.get_data()
            assert y == pytest.approx(getattr(pacing.Sigmoid(), method)(x, pace))
    assert top.get_xlim() == (0.0, 3.0)
    dots = [line.get_data() for line in top.get_lines() if len(line.get_xdata()) == 1]
    assert [(x[0], y[0]) for x, y in dots] == [
        (pace, pytest.approx(float(pacing.Sigmoid().weight(pace, pace)))) for pace in (0.5, 2.0)
    ]


def test_every_function_can_be_drawn_in_one_picture():
    functions = [*pacing.names(), pacing.derive(lambda t: 1 / (1 + t**2)), pacing.Diversity(2.0)]
    figure = pacing.plot(functions)
    drawn = [axes for axes in figure.axes if axes.get_lines()]
    assert len(drawn) == 2 * len(functions)
    assert all(np.isfinite(axes.get_ylim()).all() for axes in drawn)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [r"$\lambda=0.25$", r"$\lambda=0.5$", r"$\lambda=1$", r"$\lambda=2$"]


def test_a_given_figure_is_drawn_into():
    figure = Figure(figsize=(3, 4))
    assert pacing.plot("linear", figure=figure) is figure
    assert len(figure.axes) == 2


def test_colours_grow_lighter_with_the_pace():
    """Ordered by lightness they can be told apart with any colour vision, and on grey paper."""
    for n in range(1, 7):
        lines = pacing.plot("linear", paces=np.arange(1, n + 1)).axes[1].get_lines()
        lightness = [np.dot(to_rgb(line.get_color()), [0.2126, 0.7152, 0.0722]) for line in lines]
        assert all(np.diff(lightness) > 0.05)


def test_the_suffix_chooses_the_format(tmp_path):
    png, svg, pdf = (
        pacing.save_plot("cauchy", tmp_path / f"picture.{kind}") for kind in ("png", "svg", "pdf")
    )
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert ET.parse(svg).getroot().tag.endswith("svg")


def test_the_same_picture_is_the_same_file(tmp_path):
    first, second = (pacing.save_plot("tanh", tmp_path / name).read_bytes() for name in ("a.svg", "b.svg"))
    assert first == second


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"path": "picture.bmp"},
            "picture.bmp",
        ),
        ({"functions": []}, "at least one"),
        ({"paces": [0.0]}, "paces"),
        ({"max_loss": -1}, "max_loss"),
        ({"functions": "cachy"}, "cauchy"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(tmp_path, arguments, sentence):
    arguments = {"functions": "cauchy", "path": "picture.png"} | arguments
    arguments["path"] = tmp_path / arguments["path"]
    with pytest.raises(UserError, match=sentence):
        pacing.save_plot(**arguments)
    assert not list(tmp_path.iterdir())
