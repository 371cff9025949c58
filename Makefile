# Thin front: the work is CMake's and the gradweave command's. Values reach the scripts through the environment, so
# that no character in them can be taken for shell text.
.DEFAULT_GOAL := help
SHELL := /bin/bash

export BUILD ?= build
variables := MODEL BATCH NPU SET SCHEDULE TUNE PARTITION PARTS REDUCTION SHARING CONVOLUTION OPERATORS PASS LAYERS DATA SEED BACKEND STEP SPARSE JOBS JSON HTML TRACE TIMES TIMELINE \
  FOREGROUND FRESH CORPUS UNITY WERROR MUTANT MUTANTS FILES BUDGET EXTENT STUDY FIGURE NETWORK POLICY SAMPLE OUT PROOF ACCEPT BROKEN VERIFY
export $(variables)
# bash counts in a variable SECONDS of its own.
export FUZZ_SECONDS := $(SECONDS)
export FUZZ_TARGET := $(TARGET)
export FUZZ_MERGE := $(MERGE)

# make takes any variable: a misspelt one would silently ask for something else.
known := $(variables) BUILD SECONDS TARGET MERGE CXX CC CLANG_TIDY CI
unknown := $(filter-out $(known),$(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v)))
$(if $(unknown),$(error there is no variable $(unknown); `make help` lists those that there are))

.PHONY: help cosim simulate python validate reproduce waves mutation build build-times test bench formal coverage synth lint sanitize fuzz icarus verify format docs clean

help:
	@scripts/help.sh

cosim:
	@scripts/cosim.sh

simulate:
	@scripts/simulate.sh

python:
	@scripts/python.sh

validate:
	@scripts/validate.sh

reproduce:
	@scripts/reproduce.sh

waves:
	@scripts/waves.sh

mutation:
	@scripts/mutation.sh

build:
	@scripts/build.sh all

build-times:
	@scripts/build_times.py "$(BUILD)"

test:
	@scripts/test.sh

bench:
	@scripts/bench.sh

formal:
	@scripts/formal.sh

coverage:
	@scripts/coverage.sh

synth:
	@scripts/synth.sh

lint:
	@scripts/lint.sh

sanitize:
	@scripts/sanitize.sh

fuzz:
	@scripts/fuzz.sh

icarus:
	@scripts/icarus.sh

verify:
	@scripts/verify.sh

format:
	@scripts/format.sh

docs:
	@scripts/build.sh docs

clean:
	@scripts/clean.sh

.DEFAULT:
	@printf "gradweave: error: there is no target '%s'; make help lists those that there are\n" "$@" >&2; exit 2
