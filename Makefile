# Two commands are enough on a fresh machine: `make demo` and `make test`.
# Both set up what is missing first; CONTRIBUTING.md says what that is.

VENV   := .venv
PYTHON := $(VENV)/bin/python
STAMP  := $(VENV)/.porter-ready
TORCH  := torch==2.13.0

.PHONY: demo test setup system lint types unit clean

demo: $(STAMP)
	@$(VENV)/bin/porter port samples -o out/demo; code=$$?; \
	test $$code -le 1 || exit $$code; \
	echo; echo "The ported tree is in out/demo; manual work left gives exit code 1 (here: $$code)."

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
