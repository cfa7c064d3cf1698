import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Tiny networks gain nothing from threads, and wait for each other where tests run side by side."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
