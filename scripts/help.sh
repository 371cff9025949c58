#!/bin/bash
# `make help`: what there is to do.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
schedules=$(sed -n 's/^GW_SCHEDULER(\(.*\))$/\1 | /p' "$root/compiler/schedule/schedulers.def" | tr -d '\n')
sed "s/SCHEDULES/$schedules/" <<'TEXT'
gradweave: one backward pass of a network on a Verilated NPU, every output bit checked.

  make cosim MODEL=bert_tiny      run a network; installs what is missing and builds what it needs first
  make simulate MODEL=bert_tiny   its cycles alone, from the timing model: fast, builds and checks no RTL
  make python                     the Python module, in build/python (docs/python.md)
  make validate                   the timing model against the RTL, to the cycle: the standing corpus (docs/verification.md)
  make reproduce                  the evaluation of igo_micro23, number by number, as a page (docs/reproduce.md)
  make waves                      short streams on the RTL against golden waveforms (docs/waves.md)
  make build                      build everything
  make build-times                where the time of the last build went: by room, by kind of step, the longest steps
  make test                       build everything, run all tests but the long ones
  make mutation                   how many faults put into RTL, compiler and models the tests find (docs/mutation.md)
  make bench                      simulation speed of the RTL and of the timing model
  make formal                     proofs about the RTL, and mutants that they refute (docs/formal.md); PROOF=name: one
  make coverage                   lines, toggles and functional bins of the RTL, lines of the C++ (docs/coverage.md)
  make synth                      the RTL through Yosys's synthesis, cells per block into docs/synthesis.md
  make lint                       verilator -Wall, clang-tidy, clang-format, shellcheck, fingerprints
  make sanitize                   the C++ without SystemC under ASan and UBSan
  make fuzz SECONDS=60 TARGET=    libFuzzer on every parser of files, or on one (docs/fuzzing.md)
  make icarus                     runs again on a second simulator, four-valued (docs/icarus.md)
  make verify                     all that goes beyond make test, step by step, hours; VERIFY="formal waves" picks,
                                  SECONDS=600 is the time of each fuzzer
  make format | docs | clean      reformat the C++; regenerate docs/isa.md and the drawings; remove the build directory

Variables of `make cosim` and, marked *, of `make simulate`, and their defaults:
* MODEL=bert_tiny      name of a network in models/, or the path of a .graph, .onnx, .toml or .csv file
* BATCH=               samples in a batch; empty: as the network says
* NPU=small            name of an NPU in configs/, or the path of a .toml file
* SCHEDULE=rearrange   SCHEDULESall (compares)
* TUNE=                plans to try beyond the usual search of the compiler, as in TUNE=5000; empty: none
* PASS=backward        forward | backward | both
* STEP=                1: one whole step of training of a .graph or .onnx instead, all of its tensors compared (docs/training.md)
* SPARSE=              1: of such a step, update only the rows of embeddings that the batch looks up; empty: all rows
* PARTITION=none       none | weight_sharing | dy_sharing | ifmap_sharing: cuts the backward pass along M, N or K
* PARTS=               parts of it; empty: one for each core, two on one core
* REDUCTION=chain      chain | add: how cores that share a reduction bring their sums together
* SHARING=parts        parts | turns: whether cores have a part each, or take its tiles by turns (docs/compiler.md)
* OPERATORS=           npu | host: what runs a step's operators that are no products; default: npu if it has a vector unit
* CONVOLUTION=image    image | im2col: what convolutions read (docs/convolution.md)
* SET=                 values other than the files': SET='npu.rows=64 net.batch=8' (--set of the command)
* LAYERS=              names, numbers from 0, ranges: LAYERS=0,3-5,ffn1; empty: all
  DATA=normal          normal | special (cancellation, subnormals, -0, infinities, NaN)
  SEED=1               seed of the data
  BACKEND=rtl          rtl | timing (the same cycles in a fraction of the time, no data checked) |
                       functional (no time; finds out whether compiler or RTL is wrong)
  JOBS=                simulations at a time; empty: one a core
* JSON=                file for the report (docs/report.md); - is standard output
* HTML=                file for the report as a page to look at (docs/report.md): one file, nothing from elsewhere
* TIMES=               file or directory/ for the cycles of every command (docs/cli.md)
* TIMELINE=            the same drawn over time, for ui.perfetto.dev (docs/timeline.md)
  TRACE=               fst: a waveform for each layer, in build/trace
  FOREGROUND=          1: wait for the end of a run that is estimated at over 10 minutes; empty: it goes to the
                       background, unless CI is set, and the same command tells how far it is (docs/cli.md)
  FRESH=               1: run again what an interrupted run has finished
`make validate` takes NPU (empty: all of configs/), JOBS, JSON and CORPUS=full (or quick).
`make reproduce` takes FIGURE=5,12 NETWORK=res,bert (empty: all), POLICY, SAMPLE=1 (per network, on the RTL), SEED, JOBS,
OUT=build/reproduce and STUDY=igo (or memory, the memory model of training, docs/memory-model.md; dpt, docs/partitioned-training.md; layerweaver, docs/layerweaver.md; or the path of a .toml file).
`make fuzz` takes MERGE=1 too: the inputs found so far that reach anything new join the kept ones (docs/fuzzing.md).
`make waves` takes ACCEPT=1: what the runs give becomes golden, and what changed is told; BROKEN=all (or names): registers
that are a cycle late, each of which has to turn it red.
`make mutation` takes EXTENT=full (or quick), MUTANTS=rtl|cpp (empty: both), FILES='PATTERN...', MUTANT=(id of one, shown), SAMPLE, SEED,
BUDGET=(seconds), JOBS, JSON and FRESH.
Others: BUILD=build (build directory), CXX (compiler; default: the first of clang++-19, clang++-16, g++), UNITY=OFF (compile
file by file: for work on the code), WERROR=ON (warnings are errors).

After a build, `build/bin/gradweave --help` is the whole command: compile, disasm, asm, models, ... (docs/cli.md).
TEXT
