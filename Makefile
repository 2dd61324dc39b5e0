# The commands of this project; `make` alone lists them.

PYTHON ?= python3
VENV_PYTHON := .venv/bin/python
LOCK := .venv/bin/uv pip compile -q --universal --generate-hashes --python-version 3.11 \
	--no-header --no-annotate --no-emit-index-url --extra embedded --group build

.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory
# The tests start hundreds of processes, and each would compile the program again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test soak chaos chaos-faults cluster cluster-chaos restore-drill upgrade-drill check blocks format map bench compare profile growth screenshots client lock clean

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make .venv ready for development; does nothing when it is
	@$(PYTHON) tools/setup.py dev

run: ## Start everything on this machine; Ctrl-C stops it and keeps the data
	@$(PYTHON) tools/setup.py run && exec .venv/bin/tradewind dev $(if $(findstring command,$(origin PORT)),--port $(PORT))

test: setup ## Everything that CI asks for: check, then all the tests
	@$(PYTHON) tools/setup.py browser
	@$(PYTHON) tools/setup.py node
	@$(PYTHON) tools/setup.py sdk
	@$(PYTHON) tools/setup.py deploy
	@$(MAKE) check
	@rm -rf build/blocks-run.txt build/drills
	@# Three processes on two cores: many tests wait for a browser, a timeout or a killed process.
	$(VENV_PYTHON) -m pytest -n 3 --dist loadgroup --durations 20
	@cat build/drills/*.txt 2>/dev/null || true
	@# Without a tool that CI has, some tests are skipped.
	@$(MAKE) blocks || [ "$$CI" != true ]

soak: setup ## The hardest tests for longer, with other chances each time
	SOAK_STORIES=300 SOAK_KILLS=200 SOAK_ROWS=1000000 \
		$(VENV_PYTHON) -m pytest tests/chaos tests/orders/test_state_machine.py \
		tests/openapi/test_generated_requests.py tests/auth/test_many_guesses.py \
		tests/imports/test_killed.py

chaos: setup ## Kill, freeze, cut off and flood everything; writes docs/explanation/reliability.md
	@$(VENV_PYTHON) -m tools.chaos $(if $(ROWS),--only $(ROWS))

chaos-faults: setup ## Plant a fault for each row of `make chaos`, and expect that it is detected
	@$(VENV_PYTHON) -m tools.chaos faults $(if $(ROWS),--only $(ROWS))

restore-drill: setup ## Back up under load, lose the server, restore it, and prove what is there
	@$(VENV_PYTHON) -m pytest tests/deploy/test_restore.py -q -s

upgrade-drill: setup ## Run the version FROM (by default before the last migration) beside this one
	@UPGRADE_FROM=$(FROM) $(VENV_PYTHON) -m pytest tests/deploy/test_upgrade.py -q -s

cluster: setup ## Start a cluster of nine hosts on this machine; Ctrl-C removes it
	@$(PYTHON) tools/setup.py cluster
	@exec $(VENV_PYTHON) -m tools.cluster

cluster-chaos: setup ## Take hosts away from the cluster; writes docs/explanation/reliability.md
	@$(PYTHON) tools/setup.py cluster
	@$(VENV_PYTHON) -m tools.chaos cluster $(if $(ROWS),--only $(ROWS))

check: setup ## Formatter, linters, types, import contracts and the shape of the project
	$(VENV_PYTHON) -m ruff format --check
	$(VENV_PYTHON) -m ruff check
	$(VENV_PYTHON) -m mypy --num-workers 2
	.venv/bin/lint-imports
	$(VENV_PYTHON) -m pytest tests/shape tests/deploy/test_lint.py tests/deploy/test_chart.py -q

blocks: setup ## List the code blocks of README and docs that no test has run
	@PYTHONPATH=tests $(VENV_PYTHON) tools/unrun_blocks.py

format: setup ## Format the code, and mend what the linter can mend by itself
	$(VENV_PYTHON) -m ruff format
	$(VENV_PYTHON) -m ruff check --fix

map: setup ## Print every file with its promise
	@$(VENV_PYTHON) tools/map.py

bench: setup ## Measure; prints ratios that were taken in one run, and saves them with JSON=FILE
	@$(PYTHON) tools/setup.py wrk
	@$(VENV_PYTHON) -m bench $(if $(JSON),--json $(JSON))

compare: setup ## Measure this program and the commit WITH=COMMIT turn by turn (TURNS=9, ONLY="order fan-out")
	@$(VENV_PYTHON) -m bench.compare $(or $(WITH),HEAD) $(if $(TURNS),--turns $(TURNS)) $(if $(ONLY),--only $(ONLY)) $(if $(JSON),--json $(JSON))

profile: setup ## Sample where the CPU goes, now and at the commit WITH=COMMIT (TURNS=5, ONLY="fan-out order")
	@$(VENV_PYTHON) -m bench.cpu_profile $(if $(WITH),--with $(WITH)) $(if $(TURNS),--turns $(TURNS)) $(if $(ONLY),--only $(ONLY))

growth: setup ## Measure how cost grows; writes docs/explanation/performance.md (SIZES=small: briefly)
	@$(VENV_PYTHON) -m bench.growth $(if $(SIZES),--sizes $(SIZES))

screenshots: setup ## Shoot every page of the dashboard into build/screenshots; a few into docs/images
	@$(PYTHON) tools/setup.py browser
	@$(VENV_PYTHON) tools/screenshots.py $(ONLY)

client: setup ## Write the clients in sdk/ anew from the OpenAPI document
	@$(PYTHON) tools/setup.py node
	@$(VENV_PYTHON) tools/python_client.py
	@$(VENV_PYTHON) -m tools.generate_sdk

lock: setup ## Write both locks anew from pyproject.toml
	$(LOCK) --group dev pyproject.toml -o requirements-dev.lock
	@# The tests run with the versions that are installed in production.
	$(LOCK) --constraint requirements-dev.lock pyproject.toml -o requirements.lock

clean: ## Remove what these commands made; the data stays
	rm -rf .venv .venv.new .venv.old build .mypy_cache .ruff_cache .pytest_cache .hypothesis \
		.import_linter_cache tests/openapi/node_modules sdk/java/target
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
