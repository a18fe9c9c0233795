# Two commands are enough on a fresh machine: `make demo` and `make test`.
# Both set up what is missing first; CONTRIBUTING.md says what that is.

VENV   := .venv
PYTHON := $(VENV)/bin/python
STAMP  := $(VENV)/.porter-ready
# One more than cores: many tests wait for what they start, or for a limit to pass.
WORKERS ?= $(shell expr $$(nproc) + 1)
PINS   := torch==2.13.0 cuda-toolkit==13.0.3

.PHONY: demo test setup system lint types whole unit fresh clean

demo: $(STAMP)
	@./tools/demo.sh $(VENV)

# mypy beside the first tests, for it uses one core; what it says stands at the end.
test: lint
	@$(MAKE) --no-print-directory types > .mypy.log 2>&1 & types=$$!; \
	$(MAKE) --no-print-directory whole; failed=$$?; \
	wait $$types || failed=$$?; cat .mypy.log; exit $$failed

setup: $(STAMP)

lint: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

# mypy has to see rules/ and validation/ under their import names.
types: $(STAMP)
	@./tools/link-packages.sh .mypy
	MYPYPATH=.mypy $(VENV)/bin/mypy --explicit-package-bases -p porter

whole: $(STAMP)
	$(PYTHON) -m pytest -n $(WORKERS) -q

# What needs no compiler of device code, and no more than seconds.
unit: $(STAMP)
	$(PYTHON) -m pytest -n $(WORKERS) -q -m "not slow"

# As root: both commands on a machine that has nothing, made for the purpose (10 GB on the disk, twenty-five minutes).
fresh:
	@./tools/fresh.sh

system:
	@./tools/install-system-packages.sh

$(STAMP): pyproject.toml setup.py $(wildcard porter/cpp/compiled/*.[ch]) porter/system/needs.py tools/install-system-packages.sh tools/make-venv.sh
	@./tools/install-system-packages.sh
	@./tools/make-venv.sh $(VENV) $(PINS)
	@touch $@

clean:
	rm -rf out build dist .mypy .mypy.log .mypy_cache .ruff_cache .pytest_cache *.egg-info
