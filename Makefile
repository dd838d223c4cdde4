# make test, make demo [CLIP=file.bvh], make bench, make package; PYTHON names a Python 3.11 or 3.13.
PYTHON ?= python3
CLIP ?=
VENV := .venv
RUN := OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python

.PHONY: test lint demo bench package clean

test: lint
	$(RUN) -m pytest -q tests/test_imports.py tests/solvers
	$(RUN) -m pytest -q tests/scene tests/workflows tests/packaged

lint: $(VENV)/.ready
	$(VENV)/bin/ruff check .

demo: $(VENV)/.ready
	$(RUN) examples/demo_adapt.py $(if $(CLIP),--clip "$(CLIP)")

bench: $(VENV)/.ready
	for script in benchmarks/[!_]*.py; do $(RUN) "$$script" --json || exit 1; done

package: $(VENV)/.ready
	$(RUN) scripts/package.py

$(VENV)/.ready: scripts/setup_env.sh scripts/requirements-dev.txt
	bash scripts/setup_env.sh $(VENV) $(PYTHON)
	touch $@

clean:
	rm -rf $(VENV) .venvs build dist
