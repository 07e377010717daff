# Two commands do all the set-up: 'make demo' and 'make test'. Python ≥ 3.11 and make are all they need.
PYTHON ?= python3
# Idle OpenMP threads spin only briefly (see src/point2node/cli/main.py); here too for programs that import torch first.
export GOMP_SPINCOUNT ?= 10000
VENV := .venv
BIN := $(VENV)/bin
RUNS ?= experiments/runs
PEERS := .venv-peers

.PHONY: demo test test-slow test-stress check docs format bench bench-large bench-huge bench-peers bench-rooms room-realism table-modelnet40 table-modelnet10 table-ablation table-beyond table-reference-models real-rooms feature-rooms adapt-rooms table-clicks clean

$(VENV)/point2node: pyproject.toml constraints.txt  # what the commands of the README need
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "point2node needs Python 3.11 or newer; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[e57,h5,mesh,plan,train,view]'
	touch $@

$(VENV)/installed: $(VENV)/point2node  # and what a developer needs
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(VENV)/point2node  ## label a room that training never saw with the pretrained model; leaves pictures and a page
	$(BIN)/point2node demo --out out

test: $(VENV)/installed  ## the fast suite
	$(BIN)/python -m pytest -n 2

test-slow: $(VENV)/installed  ## long property tests, paper-width networks, examples, large clouds
	$(BIN)/python -m pytest -m slow

test-stress: $(VENV)/installed  ## 150 kills at random moments and 10,000 damaged files: an hour; not part of CI
	$(BIN)/python -m pytest -m stress -s

check: $(VENV)/installed  ## lint, format, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/installed  ## the documentation site, in build/site; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed  ## ratios against naive twins; writes benchmarks/results/*.json and docs/images/roofline.png
	$(BIN)/python -m benchmarks

$(PEERS)/installed: pyproject.toml constraints.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --constraint constraints.txt --editable . torch_geometric scikit-learn
	touch $@

bench-peers: $(PEERS)/installed  ## against PyTorch Geometric and a random forest, in an environment of its own; REAL=FOLDER adds labelled rooms
	$(PEERS)/bin/python -m benchmarks.peers
	$(PEERS)/bin/python -m benchmarks.forest $(REAL)

bench-large: $(VENV)/installed  ## labels up to 10 million points, with version 0.1.0 too: half an hour
	$(BIN)/python -m benchmarks.labelling large
	$(BIN)/python -m benchmarks.versions large

bench-huge: $(VENV)/installed  ## labels a LAZ of 200 million points in 4 GB: half an hour, 4 GB of disk
	$(BIN)/python -m benchmarks.huge

bench-rooms: $(VENV)/installed  ## how fast rooms are generated, and how hard they are for point-wise networks
	$(BIN)/python -m benchmarks.rooms

room-realism: $(VENV)/installed  ## generated rooms beside a folder of real labelled ones: make room-realism REAL=FOLDER
	$(BIN)/python -m benchmarks.room_realism $(REAL)

MODELNET40 ?= data/modelnet40
MODELNET10 ?= data/modelnet10

table-modelnet40: $(VENV)/installed  ## the paper's ModelNet40 table: days on 2 cores, resumable; MODELNET40=a prepared store, or the folder of its files
	$(BIN)/python -m experiments modelnet40 --runs $(RUNS) --modelnet40 $(MODELNET40)

table-modelnet10: $(VENV)/installed  ## ModelNet10, from the weights of ModelNet40: an hour; resumes if stopped; MODELNET10=, MODELNET40= stores or folders of h5 files
	$(BIN)/python -m experiments modelnet10 --runs $(RUNS) --modelnet10 $(MODELNET10) --modelnet40 $(MODELNET40)

table-ablation: $(VENV)/installed  ## the paper's nine rows in miniature, three seeds each: hours; resumes if stopped
	$(BIN)/python -m experiments ablation --runs $(RUNS)

# Data that is not there is left out; ONLY='rooms/*-seed0' trains only the runs whose names fit.
COMPARED = --runs $(RUNS) $(if $(wildcard $(MODELNET40)),--modelnet40 $(MODELNET40)) $(if $(REAL),--real $(REAL)) $(if $(ONLY),--only $(foreach runs,$(ONLY),'$(runs)'))

table-beyond: $(VENV)/installed  ## the nine rows, joint and scaled ones at width 2 on wide blocks, and on MODELNET40=; scored on REAL=, too: a day or two; resumes if stopped
	$(BIN)/python -m experiments beyond $(COMPARED)

table-reference-models: $(VENV)/installed  ## all networks at one budget, with and without the correlations; MODELNET40=, REAL=, ONLY= as above: a day or two; resumes if stopped
	$(BIN)/python -m experiments reference_models $(COMPARED)

WEIGHTS ?= rooms

real-rooms: $(VENV)/installed  ## scores weights on real labelled rooms: REAL=FOLDER (docs/data.md), WEIGHTS=NAME, run folder or file
	$(BIN)/python -m experiments real_rooms --real $(REAL) --weights $(WEIGHTS)

feature-rooms: $(VENV)/installed  ## which features of single points hold on real labelled rooms: REAL=FOLDER; minutes
	$(BIN)/python -m experiments features --real $(REAL)

adapt-rooms: $(VENV)/installed  ## the same before and after adapting to them without their labels; STEPS=130 also trains for each scanner kind
	$(BIN)/python -m experiments adapt --real $(REAL) --weights $(WEIGHTS) $(if $(STEPS),--steps $(STEPS))

ROOMS ?= 4

table-clicks: $(VENV)/installed  ## what corrections by clicks are worth, by an oracle on generated rooms; REAL=FOLDER adds real ones
	$(BIN)/python -m experiments clicks --weights $(WEIGHTS) --rooms $(ROOMS) $(if $(REAL),--real $(REAL))

clean:
	rm -rf $(VENV) $(PEERS) out build dist
