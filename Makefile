# Two commands are enough on a fresh machine: `make demo` and `make test`.
# Both set up what is missing first; CONTRIBUTING.md says what that is.

VENV   := .venv
PYTHON := $(VENV)/bin/python
STAMP  := $(VENV)/.porter-ready
TORCH  := torch==2.13.0

.PHONY: demo test setup system lint types unit clean

demo: $(STAMP)
	@./tools/demo.sh $(VENV)

test: lint types unit

setup: $(STAMP)

lint: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

# mypy has to see rules/ and validation/ under their import names.
types: $(STAMP)
	@./tools/link-packages.sh .mypy
	MYPYPATH=.mypy $(VENV)/bin/mypy --explicit-package-bases -p porter

unit: $(STAMP)
	$(PYTHON) -m pytest -n 2 -q

system:
	@./tools/install-system-packages.sh

$(STAMP): pyproject.toml setup.py tools/install-system-packages.sh tools/make-venv.sh
	@./tools/install-system-packages.sh
	@./tools/make-venv.sh $(VENV) '$(TORCH)'
	@touch $@

clean:
	rm -rf out build dist .mypy .mypy_cache .ruff_cache .pytest_cache *.egg-info
