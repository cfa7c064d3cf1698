"""The hooks, each with the real library and a tiny network."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mlspl.torch import SelfPacedLoss  # noqa: E402

N, D, L = 64, 5, 3
RANDOM = np.random.RandomState(0)
X = torch.tensor(RANDOM.normal(size=(N, D)), dtype=torch.float32)
Y = (X[:, :L] > 0).float()
ROWS = torch.utils.data.StackDataset(X, torch.utils.data.StackDataset(Y, range(N)))


def test_skorch():
    skorch = pytest.importorskip("skorch")
    from mlspl.torch.skorch import EndEpoch

    net = skorch.NeuralNet(
        torch.nn.Linear(D, L),
        SelfPacedLoss,
        criterion__shape=(N, L),
        train_split=None,
        max_epochs=3,
        lr=0.5,
        verbose=0,
        callbacks=[EndEpoch()],
    )
    net.fit(ROWS, y=None)
    assert (net.criterion_.epoch, net.criterion_.trace().n_steps) == (3, 3)
    assert net.history[-1]["train_loss"] < net.history[0]["train_loss"]


@pytest.mark.filterwarnings("ignore")
def test_lightning(tmp_path):
    lightning = pytest.importorskip("lightning.pytorch")
    from mlspl.torch.lightning import EndEpoch

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net, self.loss = torch.nn.Linear(D, L), SelfPacedLoss((N, L))

        def training_step(self, batch):
            x, targets = batch
            return self.loss(self.net(x), targets)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.5)

    torch.manual_seed(0)
    model = Model()
    trainer = lightning.Trainer(
        max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=tmp_path, callbacks=[EndEpoch()],
    )  # fmt: skip
    trainer.fit(model, torch.utils.data.DataLoader(ROWS, batch_size=16, shuffle=True))
    assert (model.loss.epoch, model.loss.trace().n_steps) == (4, 4)
    assert model.loss.trace().last_loss.mean() < model.loss.trace().mean_loss.mean()


@pytest.mark.filterwarnings("ignore")
def test_transformers(tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    from mlspl.torch.transformers import SelfPacedTrainerMixin

    class Trainer(SelfPacedTrainerMixin, transformers.Trainer):
        pass

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    model = transformers.BertForSequenceClassification(
        transformers.BertConfig(vocab_size=20, num_labels=L, max_position_embeddings=8, **sizes)
    )
    words = torch.tensor(RANDOM.randint(20, size=(N, 6)))
    rows = [{"input_ids": words[i], "labels": Y[i], "index": i} for i in range(N)]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=2, per_device_train_batch_size=16, use_cpu=True,
        remove_unused_columns=False, report_to=[], save_strategy="no", disable_tqdm=True,
    )  # fmt: skip
    loss = SelfPacedLoss((N, L))
    trainer = Trainer(model, arguments, train_dataset=rows, eval_dataset=rows, paced_loss=loss)
    trainer.train()
    assert (loss.epoch, loss.trace().n_steps) == (2, 2)
    assert np.isfinite(trainer.evaluate()["eval_loss"])
