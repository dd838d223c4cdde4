# make test, make test-all (slow proofs on captures too), make demo [CLIP=file.bvh], make bench, make package.
# PYTHON names a Python 3.11 or 3.13, WORKERS says how many processes run tests.
PYTHON ?= python3
WORKERS ?= 2
CLIP ?=
VENV := .venv
# Another PYTHON makes another environment, not a silent use of the one that is there.
READY := $(VENV)/.ready-$(subst /,_,$(PYTHON))
RUN := OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python

# A process that is done with its share takes over from the others'.
TEST := $(RUN) -m pytest -q -n $(WORKERS) --dist worksteal

.PHONY: test test-all lint demo bench package clean

# Two calls, for the solvers are tested in processes without Blender.
test: SELECTED := -m "not slow"
test test-all: lint
	$(TEST) $(SELECTED) tests/test_imports.py tests/solvers tests/streams tests/benchmarks
	$(TEST) $(SELECTED) tests/scene tests/workflows tests/packaged

lint: $(READY)
	$(VENV)/bin/ruff check .

demo: $(READY)
	for script in examples/demo_adapt.py examples/demo_controls.py examples/demo_live.py examples/demo_map.py examples/demo_transfer.py; do $(RUN) "$$script" $(if $(CLIP),--clip "$(CLIP)") || exit 1; done

bench: $(READY)
	$(RUN) benchmarks/controls.py --only speed --json
	for script in benchmarks/adapt.py benchmarks/bake.py benchmarks/live.py benchmarks/map.py benchmarks/transfer.py; do $(RUN) "$$script" --json || exit 1; done

package: $(READY)
	$(RUN) scripts/package.py

$(READY): scripts/setup_env.sh scripts/requirements-dev.txt
	bash scripts/setup_env.sh $(VENV) $(PYTHON)
	touch $@

clean:
	rm -rf $(VENV) .venvs build dist
