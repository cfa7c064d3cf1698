import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mlspl import BSVMClassifier
from mlspl.datasets import load_dataset
from mlspl.metrics import hamming_loss
from mlspl.model_selection import protocol_split

DIGITS = load_dataset("digits-traits")
TRAIN, TEST = protocol_split(len(DIGITS.Y), 0, 0.15)
X = StandardScaler().fit(DIGITS.X[TRAIN]).transform(DIGITS.X)
X_TRAIN, Y_TRAIN, X_TEST = X[TRAIN], DIGITS.Y[TRAIN], X[TEST]


@pytest.mark.parametrize("kernel", [{"kernel": "rbf"}, {"kernel": "linear"}])
def test_scores_are_those_of_a_libsvm_per_label(kernel):
    ours = BSVMClassifier(gamma="auto", tol=1e-6, **kernel).fit(X_TRAIN, Y_TRAIN)
    theirs = OneVsRestClassifier(SVC(gamma="auto", tol=1e-6, **kernel)).fit(X_TRAIN, Y_TRAIN)
    np.testing.assert_allclose(
        ours.decision_function(X_TEST), theirs.decision_function(X_TEST), atol=1e-4, rtol=1e-4
    )


def test_a_precomputed_kernel_and_a_callable_are_the_kernel_they_compute():
    gamma = 1.0 / X.shape[1]
    expected = BSVMClassifier(gamma=gamma).fit(X_TRAIN, Y_TRAIN).decision_function(X_TEST)
    K, K_test = rbf_kernel(X_TRAIN, gamma=gamma), rbf_kernel(X_TEST, X_TRAIN, gamma=gamma)
    precomputed = BSVMClassifier(kernel="precomputed").fit(K, Y_TRAIN)
    np.testing.assert_allclose(precomputed.decision_function(K_test), expected, atol=1e-9)

    def kernel(A, B):
        return rbf_kernel(A, B, gamma=gamma)

    called = BSVMClassifier(kernel=kernel).fit(X_TRAIN, Y_TRAIN)
    np.testing.assert_allclose(called.decision_function(X_TEST), expected, atol=1e-9)


def test_label_weights_are_sample_weights_of_each_label():
    weight = np.random.RandomState(0).uniform(0.1, 2.0, Y_TRAIN.shape)
    model = BSVMClassifier(gamma="auto", tol=1e-6).fit(X_TRAIN, Y_TRAIN, label_weight=weight)
    ours = model.decision_function(X_TEST)
    for label in (0, 3):
        svm = SVC(gamma="auto", tol=1e-6)
        svm.fit(X_TRAIN, Y_TRAIN[:, label], sample_weight=np.ascontiguousarray(weight[:, label]))
        np.testing.assert_allclose(ours[:, label], svm.decision_function(X_TEST), atol=1e-4, rtol=1e-4)


def test_threads_do_not_change_a_bit():
    scores = [BSVMClassifier(n_jobs=jobs).fit(X_TRAIN, Y_TRAIN).decision_function(X_TEST) for jobs in (1, 2)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kernel": "cosine"}, "'kernel' parameter"),
        ({"gamma": -1.0}, "'gamma' parameter"),
        ({"kernel": "precomputed"}, "square"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        BSVMClassifier(**parameters).fit(X_TRAIN, Y_TRAIN)


@pytest.mark.parametrize(
    ("name", "expected", "spread"), [("emotions", 0.196, 0.004), ("scene", 0.089, 0.002)]
)
def test_hamming_loss_of_the_protocol(data_home, name, expected, spread):
    """ALGORITHMS' figures, ten splits at 30 %; three of them here, so three spreads are allowed."""
    data = load_dataset(name, data_home)
    losses = []
    for split in range(3):
        train, test = protocol_split(len(data.Y), split)
        scaler = StandardScaler().fit(data.X[train])
        model = BSVMClassifier().fit(scaler.transform(data.X[train]), data.Y[train])
        losses.append(hamming_loss(data.Y[test], model.predict(scaler.transform(data.X[test]))))
    assert np.mean(losses) == pytest.approx(expected, abs=3 * spread)


def test_a_linear_kernel_takes_sparse_data_as_it_is():
    sparse_train, sparse_test = sparse.csr_matrix(DIGITS.X[TRAIN]), sparse.csr_matrix(DIGITS.X[TEST])
    model = BSVMClassifier(kernel="linear", C=0.01, tol=1e-6)
    from_sparse = model.fit(sparse_train, Y_TRAIN).decision_function(sparse_test)
    assert sparse.issparse(model.model_.X)
    from_dense = model.fit(DIGITS.X[TRAIN], Y_TRAIN).decision_function(DIGITS.X[TEST])
    np.testing.assert_allclose(from_sparse, from_dense, atol=1e-4)
