#!/bin/bash
# `make cosim`: builds the gradweave command and the one NPU that is asked for, then runs. Variables: `make help`.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

model=${MODEL:-bert_tiny}
npu=${NPU:-small}
backend=${BACKEND:-rtl}

# An NPU of the user's own joins the ones that CMake verilates, under the name in its file; a standard one of the same
# name gives way to it.
npus=$(default_npus)
name=$npu
if [[ $npu == */* || $npu == *.toml ]]; then
  [ -f "$npu" ] || die "NPU=$npu: there is no such file; NPU takes the path of a .toml file or a name in configs/"
  npu=$(realpath "$npu")
  file=$(npu_file "$npu") # what its RTL is made from; the memory is no part of that
  [ -f "$file" ] || die "$npu: npu = \"...\" names $file, which is no file"
  file=$(realpath "$file")
  name=$(npu_name "$file")
  [ -n "$name" ] || die "$file: no line name = \"...\" of lower-case letters, digits, _ and - in it; add one under [npu]"
  if [ "$file" != "$root/configs/$name.toml" ]; then
    copy=$build/npus/$name.toml
    mkdir -p "$build/npus"
    cmp -s "$file" "$copy" || cp "$file" "$copy"
    npus=$(tr ';' '\n' <<<"$npus" | sed "/^$name\$/d" | tr '\n' ';')$(realpath "$copy")
  fi
fi
# Those of configs/ that take long to verilate are built only on demand.
if [ -f "$root/configs/$name.toml" ] && [[ ";$npus;" != *[\;/]"$name"[\;.]* ]]; then npus+=";$name"; fi

args=(cosim --model "$model" --npu "$npu" --backend "$backend" --trace-dir "$build/trace" --from-make)
add_work_args
[ -z "${DATA:-}" ] || args+=(--data "$DATA")
[ -z "${SEED:-}" ] || args+=(--seed "$SEED")
[ -z "${JOBS:-}" ] || args+=(--jobs "$JOBS")
[ -z "${TRACE:-}" ] || args+=(--trace "$TRACE")
[ -z "${FRESH:-}" ] || args+=(--fresh)
[ -z "${STEP:-}" ] || args+=(--step)
# A script that waits for a verdict, as CI does, must not be told that the run has started: most CI systems set CI.
[ -n "${FOREGROUND:-}${CI:-}" ] || args+=(--background=auto)

scripts/bootstrap.sh run
configure "$npus"
compile gradweave
# All arguments and files are checked before minutes are spent on verilating the NPU.
"$build/bin/gradweave" "${args[@]}" --dry-run
[ "$backend" != rtl ] || compile "gradweave_rtl_$name"
exec "$build/bin/gradweave" "${args[@]}"
