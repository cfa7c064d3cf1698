"""`SelfPacedLoss` against NumPy, the papers' formulas and one process."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch")

from torch.nn.functional import binary_cross_entropy_with_logits as bce  # noqa: E402

from mlspl import curriculum, pacing  # noqa: E402
from mlspl.errors import UserError  # noqa: E402
from mlspl.pacing import GeometricPace, NoisePace, QuantilePace  # noqa: E402
from mlspl.torch import SelfPacedLoss, asymmetric_loss, focal_loss  # noqa: E402

N, L = 60, 3
RANDOM = np.random.RandomState(0)
LOGITS = torch.tensor(RANDOM.normal(scale=2.0, size=(N, L)), dtype=torch.float32)
LABELS = torch.tensor(RANDOM.rand(N, L) < 0.4, dtype=torch.float32)
ROWS = torch.arange(N)


def losses_of(logits, labels):
    """In half precision, as they are kept."""
    return bce(logits, labels, reduction="none").half().double().numpy()


@pytest.mark.parametrize("function", [name for name in pacing.names() if name != "logarithmic"])
@pytest.mark.parametrize(
    "schedule",
    [
        QuantilePace(0.5, 0.9, 2),
        QuantilePace(0.6, 0.6, 1, per="negatives"),
        GeometricPace(0.5),
        NoisePace(np.full((2, L), 0.3)),
        NoisePace(0.3, steps=2, falling=True),
    ],
    ids=repr,
)
def test_weights_are_those_of_the_pacing_package(function, schedule):
    loss = SelfPacedLoss((N, L), pace_function=function, schedule=schedule, reduction="none")
    plain = loss(LOGITS, LABELS, ROWS)
    assert_array_equal(plain, bce(LOGITS, LABELS, reduction="none"))
    loss.end_epoch()
    losses = losses_of(LOGITS, LABELS)
    target = next(iter(schedule))
    expected = pacing.get(function).weight(losses, schedule.pace(target, losses, LABELS.numpy()))
    assert_allclose(loss(LOGITS, LABELS, ROWS), expected * plain.numpy(), rtol=2e-3, atol=1e-6)


def test_the_gradient_does_not_pass_through_the_weights():
    loss = SelfPacedLoss(warm_up=0, reduction="sum")
    logits = LOGITS.clone().requires_grad_()
    loss(logits, LABELS).backward()
    losses = bce(LOGITS, LABELS, reduction="none").double().numpy()
    weights = pacing.Gaussian().weight(losses, QuantilePace(0.7, 0.7, 1).pace(0.7, losses, LABELS.numpy()))
    assert_allclose(logits.grad, weights * (torch.sigmoid(LOGITS) - LABELS).numpy(), rtol=1e-4, atol=1e-6)


def test_the_memory_is_a_running_mean_per_pair_found_by_index():
    loss = SelfPacedLoss((N, L), momentum=0.5)
    order = torch.randperm(N, generator=torch.Generator().manual_seed(0))
    for scale in (1.0, 3.0):
        for rows in order.split(16):
            loss(scale * LOGITS[rows], LABELS[rows], rows)
        loss.end_epoch()
    expected = (losses_of(LOGITS, LABELS) + losses_of(3 * LOGITS, LABELS)) / 2
    assert_allclose(loss.trace().last_loss, expected, rtol=2e-3, atol=1e-6)
    assert loss.trace().n_steps == 2
    assert curriculum.difficulty(loss.trace()).pairs.shape == (N, L)


def test_losses_of_0_keep_the_class_of_their_pair():
    loss = SelfPacedLoss((N, L))
    for _ in range(3):
        loss(1e4 * (LABELS - 0.5), LABELS, ROWS)
        loss.end_epoch()
    assert_array_equal(loss._memory["losses"].signbit(), LABELS == 0)


def test_rows_that_are_not_drawn_keep_their_losses():
    loss = SelfPacedLoss((N, L), momentum=0.5)
    for scale, rows in ((1.0, ROWS[:40]), (3.0, ROWS[20:])):
        loss(scale * LOGITS[rows], LABELS[rows], rows)
        loss.end_epoch()
    first, second = losses_of(LOGITS, LABELS), losses_of(3 * LOGITS, LABELS)
    expected = np.concatenate([first[:20], (first[20:40] + second[20:40]) / 2, second[40:]])
    assert_allclose(loss.trace().last_loss, expected, rtol=2e-3, atol=1e-6)


def test_unknown_pairs_and_pairs_of_weight_0_do_not_matter():
    gap = torch.tensor(np.random.RandomState(1).rand(N, L) < 0.3)
    unknown, weight = LABELS.masked_fill(gap, torch.nan), (~gap).float()
    results = []
    for targets, label_weight in ((unknown, None), (LABELS, weight), (1 - LABELS, weight)):
        targets = torch.where(gap, targets, LABELS)
        loss = SelfPacedLoss((N, L))
        for _ in range(2):
            value = loss(LOGITS, targets, ROWS, label_weight)
            loss.end_epoch()
        results.append(value.item())
    assert results[0] == results[1] == results[2]
    plain = SelfPacedLoss(pace_function=None)(LOGITS, unknown).item()
    assert plain == pytest.approx(bce(LOGITS[~gap], LABELS[~gap]).item())


def test_label_weights_multiply_and_codings_agree():
    loss = SelfPacedLoss(pace_function=None, reduction="sum")
    weight = torch.rand(N, L, generator=torch.Generator().manual_seed(0)) + 0.1
    expected = bce(LOGITS, LABELS, weight=weight, reduction="sum").item()
    for targets in (LABELS, 2 * LABELS - 1, LABELS.bool(), LABELS.long()):
        assert loss(LOGITS, targets, None, weight).item() == pytest.approx(expected)
    pairs = torch.utils.data.StackDataset(LABELS, range(N), weight)
    dataset = torch.utils.data.StackDataset(LOGITS, pairs)
    batch, targets = next(iter(torch.utils.data.DataLoader(dataset, batch_size=N)))
    assert loss(batch, targets).item() == pytest.approx(expected)


def test_in_evaluation_mode_nothing_is_paced_or_remembered():
    loss = SelfPacedLoss((N, L), warm_up=0).eval()
    assert loss(LOGITS, LABELS).item() == pytest.approx(bce(LOGITS, LABELS).item())
    loss.end_epoch()
    assert_array_equal(loss.trace().last_loss, 0.0)


def test_the_share_in_play_falls_to_the_share_of_right_labels():
    loss = SelfPacedLoss(
        (N, L), pace_function="hard", schedule=NoisePace(0.4, steps=4, falling=True), momentum=0.0
    )
    shares = []
    for _ in range(7):
        loss(LOGITS, LABELS, ROWS)
        loss.end_epoch()
        shares.append(loss._memory["weights"].float().mean().item())
    assert_allclose(shares, [0.9, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6], atol=0.04)


def test_a_saved_state_continues_as_if_nothing_had_happened():
    loss, other = (SelfPacedLoss((N, L), schedule=QuantilePace(0.4, 0.9, 4)) for _ in range(2))
    for _ in range(2):
        loss(LOGITS, LABELS, ROWS)
        loss.end_epoch()
    file = io.BytesIO()
    torch.save(loss.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file))  # tensors only: weights_only is the default
    for each in (loss, other):
        each(-LOGITS, LABELS, ROWS)
        each.end_epoch()
    assert loss(LOGITS, LABELS, ROWS).item() == other(LOGITS, LABELS, ROWS).item()
    assert_array_equal(loss.trace().mean_loss, other.trace().mean_loss)
    with pytest.raises(UserError, match="shape"):
        SelfPacedLoss((N, 2)).load_state_dict(loss.state_dict())


def test_under_autocast_losses_are_in_single_precision():
    layer = torch.nn.Linear(L, L)
    loss = SelfPacedLoss((N, L))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = layer(LOGITS)
        value = loss(logits, LABELS, ROWS)
    assert logits.dtype == torch.bfloat16
    assert value.dtype == torch.float32
    assert value.item() == bce(logits.float(), LABELS).item()
    value.backward()
    assert torch.isfinite(layer.weight.grad).all()


@pytest.mark.parametrize("make", [SelfPacedLoss.large_loss_rejection, SelfPacedLoss.large_loss_correction])
def test_large_loss_presets_follow_the_authors_code(make):
    """Kim et al. 2022: in epoch t, the ⌈(t − 1)·Δ·B·K⌉ largest losses of the unobserved pairs of a batch."""
    loss = make(step=0.1, reduction="none")
    losses, opposite = bce(LOGITS, LABELS, reduction="none"), bce(LOGITS, 1 - LABELS, reduction="none")
    unobserved = LABELS == 0
    for t in range(1, 4):
        expected = losses
        if t > 1:
            of_unobserved = unobserved * losses
            k = int(np.ceil(0.1 * (t - 1) * N * L))
            smallest = torch.topk(of_unobserved.flatten(), k).values[-1]
            changed = torch.zeros(()) if make == SelfPacedLoss.large_loss_rejection else opposite
            expected = torch.where(of_unobserved < smallest, losses, changed)
            assert (expected != losses).sum() == k
        assert_allclose(loss(LOGITS, LABELS), expected, rtol=1e-6)
        loss.end_epoch()


def focal_margin(logits, labels):
    """L⁺ = −(1 − p_m)² ln p_m with p_m = σ(x − 1), and L⁻ = −p² ln(1 − p)."""
    p, p_m = torch.sigmoid(logits), torch.sigmoid(logits - 1.0)
    return torch.where(labels > 0, -((1 - p_m) ** 2) * torch.log(p_m), -(p**2) * torch.log(1 - p))


def test_splc_follows_the_paper():
    """Zhang et al. 2021: L⁻ of a negative up to the probability τ, and L⁺ above it, after an epoch."""
    for options, formula in (
        ({"base": "bce"}, lambda x, y: bce(x, y, reduction="none")),
        ({"base": "focal"}, focal_loss),
        ({}, focal_margin),
    ):
        loss = SelfPacedLoss.splc(0.6, reduction="none", **options)
        assert_allclose(loss(LOGITS, LABELS), formula(LOGITS, LABELS), rtol=1e-4, atol=1e-7)
        loss.end_epoch()
        corrected = torch.where(torch.sigmoid(LOGITS) > 0.6, torch.ones(()), LABELS)
        assert_allclose(loss(LOGITS, LABELS), formula(LOGITS, corrected), rtol=1e-4, atol=1e-7)


def test_focal_and_asymmetric_losses_follow_their_papers():
    p, y = torch.sigmoid(LOGITS).double().numpy(), LABELS.numpy()
    p_t = np.where(y == 1, p, 1 - p)
    assert_allclose(focal_loss(LOGITS, LABELS), -((1 - p_t) ** 2) * np.log(p_t), rtol=1e-4, atol=1e-7)
    q = np.maximum(p - 0.05, 0)
    expected = np.where(y == 1, -((1 - p) ** 1.0) * np.log(p), -(q**4) * np.log(1 - q))
    assert_allclose(asymmetric_loss(LOGITS, LABELS, positive=1.0), expected, rtol=1e-4, atol=1e-7)
    expected = np.where(y == 1, -np.log(p), -(q**4) * np.log(1 - q))
    assert SelfPacedLoss.asl()(LOGITS, LABELS).item() == pytest.approx(expected.mean(), rel=1e-5)


@pytest.mark.parametrize(
    ("options", "word"),
    [({"base": "hinge"}, "base"), ({"reduction": "max"}, "reduction"), ({"momentum": 1.0}, "momentum")],
)
def test_wrong_parameters_are_refused(options, word):
    with pytest.raises(UserError, match=word):
        SelfPacedLoss(**options)


@pytest.mark.parametrize("value", [np.nan, -0.1, 1.1])
@pytest.mark.parametrize("shape", [None, (4, 2)])
def test_weights_outside_0_and_1_are_refused(value, shape):
    class Constant(pacing.SelfPacedFunction):
        inverse = penalty = None

        def weight(self, loss, pace):
            return np.full(np.shape(loss), value)

    loss = SelfPacedLoss(shape, pace_function=Constant(), schedule=QuantilePace(per="all"))

    def train():
        for _ in range(3):
            loss(torch.zeros(4, 2), torch.ones(4, 2), None if shape is None else torch.arange(4))
            loss.end_epoch()

    with pytest.raises(UserError, match="weight"):
        train()


def test_a_missing_index_or_trace_is_refused():
    with pytest.raises(UserError, match="index"):
        SelfPacedLoss((N, L))(LOGITS, LABELS)
    with pytest.raises(UserError, match="trace"):
        SelfPacedLoss().trace()


def run_process(rank, world, path, results):
    torch.distributed.init_process_group("gloo", f"file://{path}", rank=rank, world_size=world)
    loss = train(ROWS[rank::world])
    torch.save(loss.state_dict(), f"{results}.{rank}")
    torch.distributed.destroy_process_group()


def train(rows):
    """Two epochs; the rows change process between them."""
    loss = SelfPacedLoss((N, L))
    for epoch in range(3):
        some = (rows + epoch) % N
        loss((1.0 + epoch) * LOGITS[some], LABELS[some], some)
        loss.end_epoch()
    return loss


def test_two_processes_agree_with_one(tmp_path):
    torch.multiprocessing.spawn(run_process, (2, tmp_path / "meeting", tmp_path / "state"), nprocs=2)
    expected = train(ROWS)
    for rank in range(2):
        loss = SelfPacedLoss((N, L))
        loss.load_state_dict(torch.load(f"{tmp_path / 'state'}.{rank}"))
        assert loss(LOGITS, LABELS, ROWS).item() == expected(LOGITS, LABELS, ROWS).item()
        assert_array_equal(loss.trace().mean_loss, expected.trace().mean_loss)
