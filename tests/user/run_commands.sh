#!/bin/bash
# run_commands.sh BUILD SOURCE [PATTERN]: runs each command that stands as a line of README and docs, one after another in one directory, with the files
# that they name: of gradweave, Python and SQLite, and those of make that need no more than this build. PATTERN: only those that match; SECONDS_EACH:
# none for longer than that, which is said and no failure. What others run is said and left out. Exit code 77: nothing matches.
set -euo pipefail
build=$(realpath "$1") source=$(realpath "$2") pattern=${3:-.} each=${SECONDS_EACH:-7200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
source "$source/tests/user/doc_lines.sh"
mkdir bin
python=$(sed -n 's/^GW_PYTHON_PROGRAM:INTERNAL=//p' "$build/CMakeCache.txt")
[ -z "$python" ] || ln -s "$python" bin/python3 # the one that the module is for
export PATH=$work/bin:$build/bin:$PATH GRADWEAVE_HOME=$source GRADWEAVE_LIB_DIR=$build/lib XDG_STATE_HOME=$work/state GRADWEAVE_PLAN_CACHE=$work/plans
cp "$source/tests/onnx/tutorial.onnx" net.onnx
printf 'name,M,K,N\na,20,30,40\n' >my_layers.csv
cp "$source/configs/test8.toml" my_npu.toml
ln -s "$source/docs" docs
ln -s "$source/python" python
ln -s "$source/tests" tests
ln -s "$build" build
printf 'model = ["mlp"]\nnpu = "test8"\n[set]\n"npu.rows" = [4, 8]\n' >study.toml
# has_rtl LINE: the Verilated NPU that it runs on is built.
has_rtl() {
  local npu=small
  case $1 in *'--npu '*) npu=${1#*--npu } npu=${npu%% *} ;; esac
  [ -f "$build/lib/libgradweave_rtl_$npu.so" ]
}

# What runs a command if this does not; nothing: this does.
run_elsewhere() {
  case $1 in
  'make help' | 'make simulate '*) [ -f "$build/.gw-configured" ] || echo "user.front: make has not configured this build" ;;
  'make python'*) echo "tests/python: it builds the module, which the lines of Python here take" ;;
  'make cosim'* | 'make validate'*) echo "user.own_npu, and the tests labelled cosim: it builds NPUs" ;;
  'make reproduce'*) echo "the same lines of gradweave here" ;;
  'make '*) echo "make verify: it takes hours" ;;
  *PYTHONPATH*) ls "$build"/python/gradweave/_core*.so >/dev/null 2>&1 || echo "tests/python: no module is built here" ;;
  *sqlite3*) command -v sqlite3 >/dev/null || echo "tests/sweep: sqlite3 is not installed" ;;
  *wavediff*) echo "tests/trace/wave: it takes two waveforms" ;;
  *'timeline a.gws'*) echo "tests/trace/timeline_cli_test.cpp: it takes traces of a run" ;;
  *--slurm*) echo "user.sweep_slurm: it takes a Slurm" ;;
  *--shard* | *'sweep collect'*) echo "tests/cli/cli_sweep_test.cpp: one needs what the others left" ;;
  *'memory --validate'*) echo "cli_memory_validation_test" ;;
  *validate* | *'--backend rtl'* | *'--check rtl'*) has_rtl "$1" || echo "the tests labelled cosim: the RTL that it takes is not built here" ;;
  *'gradweave cosim'*) case $1 in *--backend*) ;; *) has_rtl "$1" || echo "the tests labelled cosim: the RTL that it takes is not built here" ;; esac ;;
  *'train --model mlp_fashion'* | *'train --model lenet'*)
    case $1 in *synthetic*) ;; *) [ -d /usr/share/datasets/fashion-mnist ] || echo "the tests of training: dataset-fashion-mnist is not installed" ;; esac ;;
  esac
}
failed=0 count=0
while IFS= read -r line; do
  grep -qE -- "$pattern" <<<"$line" || continue
  elsewhere=$(run_elsewhere "$line")
  if [ -n "$elsewhere" ]; then
    echo "left out: $line: $elsewhere"
    continue
  fi
  count=$((count + 1))
  start=$SECONDS code=0
  case $line in 'make '*) run="cd '$source' && BUILD='$build' $line" ;; *) run=$line ;; esac
  case $line in 'gradweave sweep '*) rm -f sweep.db* ;; esac # each is a study of its own
  timeout "$each" bash -c "$run" >printed 2>errors </dev/null || code=$?
  if [ "$code" -eq 0 ]; then
    echo "$((SECONDS - start)) s: $line"
  elif [ "$code" -eq 124 ]; then
    echo "left out: $line: it takes more than $each s here"
  else
    echo "FAIL $line: $(tail -n 2 errors)"
    failed=1
  fi
done < <(for page in "$source"/README.md "$source"/models/README.md "$source"/docs/*.md; do
  { block_lines "$page"; more_lines "$page"; } | sed 's/ *# .*//; s/ \{2,\}.*//; s/ *$//'
done | sort -u)
[ "$count" -gt 0 ] || exit 77
exit "$failed"
