"""The figures of the README are those of the studies."""

import re
from pathlib import Path

from studies.pacing import gains, read_results

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def mean_gain(noise):
    return gains(read_results()).xs((noise, "forest"), level=("noise", "model"))["gain"]


def test_gains_of_pacing():
    real, flipped = re.search(r"gains ([\d.]+) in the mean.+?gains ([\d.]+);", README, re.DOTALL).groups()
    assert f"{mean_gain('real').mean():.3f}" == real
    assert f"{mean_gain('flip:0.3').mean():.3f}" == flipped
    assert (mean_gain("real") >= 0).all()
    assert (mean_gain("clean") > -0.001).all()


def test_average_precision_of_audits():
    page = (ROOT / "docs" / "audits.md").read_text(encoding="utf-8")
    figures = re.search(
        r"precision of ([\d.]+), cleanlab's.+?([\d.]+)\. On.+?have ([\d.]+) and ([\d.]+) ", README
    )
    means = dict(re.findall(r"Mean average precision \((real|planted)\): (.+)", page))
    for kind, (ours, theirs) in {"real": figures.group(1, 2), "planted": figures.group(3, 4)}.items():
        assert f"audit {ours}," in means[kind]
        assert f"cleanlab {theirs}," in means[kind]
