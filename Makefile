# The verbs of this project. `make` alone lists them.
# Needs only make and Python >= 3.11; name another one with `make PYTHON=/path/to/python ...`.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# pytest processes at once; many tests wait more than they work, so three keep two cores busy.
PYTEST_WORKERS ?= 3
# 1: check the demo and leave (used in CI); 0: stay up until Ctrl-C.
DEMO_EXIT ?= 0
# Where the demo's gateway listens.
DEMO_PORT ?= 8000

export PYTHONUNBUFFERED := 1

.DEFAULT_GOAL := help
.PHONY: help venv demo redis haproxy test check unit format docs lock test-vllm chaos chaos-short \
  test-load sim sim-short reload-storm reload-storm-short replicas replicas-short bench-routing bench-decisions clean

help: ## List these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | \
	  while IFS='|' read -r name text; do printf '  make %-15s %s\n' "$$name" "$$text"; done

venv: $(VENV)/.ready ## Create .venv with the locked versions of everything

# No build isolation: the build back end comes from the lock as well.
$(VENV)/.ready: requirements-dev.lock pyproject.toml
	@set -e; python=$$(sh scripts/find_python.sh); \
	if [ ! -x $(BIN)/python ] || ! $(BIN)/python -c 'import pip' 2>/dev/null; then \
	  echo "creating $(VENV) with $$python"; \
	  "$$python" -m venv --clear $(VENV) || { \
	    echo "$$python cannot make virtual environments." >&2; \
	    echo "On Debian and Ubuntu: apt-get install python3-venv; or name another: make PYTHON=..." >&2; \
	    exit 1; }; \
	fi
	@echo "installing the locked packages"
	@$(PIP) install -qq -r requirements-dev.lock
	@$(PIP) install -qq --no-deps --no-build-isolation -e .
	@touch $@

demo: venv ## An emulated fleet of four backends and the gateway on this machine
	@$(BIN)/python scripts/demo.py --port $(DEMO_PORT) $(if $(filter-out 0,$(DEMO_EXIT)),--check-and-exit)

haproxy: ## Install haproxy where it is missing and may be installed, else say how
	@sh scripts/need_haproxy.sh

redis: ## Install redis-server where it is missing and may be installed, else say how
	@sh scripts/need_redis.sh

test: check redis ## Everything that must pass: style, types, import rules, tests (under 6 minutes)
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist worksteal

check: venv ## Style, types and import rules, without tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: venv ## The quick tests only
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) tests/unit tests/architecture

format: venv ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: venv ## Write docs/reference and the JSON schema again from the code
	$(BIN)/python -m gateway.cli.docs

lock: ## Resolve the newest versions into the two lock files
	@set -e; python=$$(sh scripts/find_python.sh); folder=$$(mktemp -d); \
	trap 'rm -rf "$$folder"' EXIT; \
	"$$python" -m venv "$$folder" && "$$folder/bin/python" scripts/lock.py

test-vllm: venv ## End-to-end tests against two real vLLM servers (first time: 2 GB, 5 minutes)
	tests/vllm/real_backend/start_real_vllm.sh setup
	$(BIN)/python -m pytest tests/vllm -o timeout=300

chaos: venv ## Faults under load, every answer compared; writes docs/failures.md (4 minutes)
	@$(BIN)/python scripts/chaos.py

chaos-short: venv ## The same in about a minute, some faults only
	@$(BIN)/python scripts/chaos.py --short

reload-storm: venv ## 100 reloads under streaming load, then 50 a second; every answer looked at (2 minutes)
	@$(BIN)/python scripts/reload_storm.py

reload-storm-short: venv ## The same with 20 reloads (half a minute)
	@$(BIN)/python scripts/reload_storm.py --short

test-load: venv ## Placement under load: lies, KV pressure, overload, priorities, ablations (4 minutes)
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) tests/load

sim: venv ## Placement against other policies in virtual time: ten seeds, all targets (8 minutes)
	@$(BIN)/python scripts/sim.py --goals

sim-short: venv ## The same with two seeds and fewer policies (1 minute)
	@$(BIN)/python scripts/sim.py --goals --short

replicas: venv redis haproxy ## Several gateways: caps, a dying store, rolling restarts (6 minutes)
	@$(BIN)/python scripts/replicas.py

replicas-short: venv redis haproxy ## Caps, a dying store and restarts only (1 minute), without the goal of CPU
	@$(BIN)/python scripts/replicas.py --short

bench-routing: venv ## Routing compared live with vllm-router and nginx (30 minutes; QUICK=1: 4)
	@$(BIN)/python scripts/bench_routing.py $(if $(filter-out 0,$(QUICK)),--quick)

bench-decisions: venv ## What one decision costs, by size of the fleet (1 minute)
	@$(BIN)/python scripts/bench_decisions.py

clean: ## Remove .venv, caches and build output
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
