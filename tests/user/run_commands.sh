#!/bin/bash
# run_commands.sh BUILD SOURCE [PATTERN]: runs each command of gradweave that stands as a line of README and docs, one after another in one directory,
# with the files that they name; PATTERN: only those that match. What others run is said and left out. Exit code 77: nothing matches.
set -euo pipefail
build=$1 source=$2 pattern=${3:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
source "$source/tests/user/doc_lines.sh"
export PATH=$build/bin:$PATH GRADWEAVE_HOME=$source GRADWEAVE_LIB_DIR=$build/lib XDG_STATE_HOME=$work/state GRADWEAVE_PLAN_CACHE=$work/plans
cp "$source/tests/onnx/tutorial.onnx" net.onnx
printf 'name,M,K,N\na,20,30,40\n' >my_layers.csv
cp "$source/configs/test8.toml" my_npu.toml
printf 'model = ["mlp"]\nnpu = "test8"\n[set]\n"npu.rows" = [4, 8]\n' >study.toml
has_rtl() { ls "$build"/lib/libgradweave_rtl_*.so >/dev/null 2>&1; }

# What runs a command if this does not; nothing: this does.
run_elsewhere() {
  case $1 in
  *wavediff*) echo "tests/trace/wave: it takes two waveforms" ;;
  *'timeline a.gws'*) echo "tests/trace/timeline_cli_test.cpp: it takes traces of a run" ;;
  *--slurm*) echo "user.sweep_slurm: it takes a Slurm" ;;
  *--shard* | *'sweep collect'*) echo "tests/cli/cli_sweep_test.cpp: one needs what the others left" ;;
  *'memory --validate'*) echo "cli_memory_validation_test" ;;
  *validate* | *'--backend rtl'* | *'--check rtl'*) has_rtl || echo "the tests labelled cosim: no RTL is built here" ;;
  *'gradweave cosim'*) case $1 in *--backend*) ;; *) has_rtl || echo "the tests labelled cosim: no RTL is built here" ;; esac ;;
  *'train --model mlp_fashion'* | *'train --model lenet'*)
    case $1 in *synthetic*) ;; *) [ -d /usr/share/datasets/fashion-mnist ] || echo "the tests of training: dataset-fashion-mnist is not installed" ;; esac ;;
  esac
}
failed=0 count=0
while IFS= read -r line; do
  case $line in 'gradweave '*) ;; *) continue ;; esac
  grep -qE -- "$pattern" <<<"$line" || continue
  elsewhere=$(run_elsewhere "$line")
  if [ -n "$elsewhere" ]; then
    echo "left out: $line: $elsewhere"
    continue
  fi
  count=$((count + 1))
  start=$SECONDS
  if bash -c "$line" >printed 2>errors </dev/null; then
    echo "$((SECONDS - start)) s: $line"
  else
    echo "FAIL $line: $(tail -n 2 errors)"
    failed=1
  fi
done < <(for page in "$source"/README.md "$source"/models/README.md "$source"/docs/*.md; do
  block_lines "$page" | sed 's/ *# .*//; s/ *$//'
done | sort -u)
[ "$count" -gt 0 ] || exit 77
exit "$failed"
