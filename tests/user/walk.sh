#!/bin/bash
# walk.sh BUILD ROOT: each command of docs/walk.md prints the lines that stand below it there.
set -euo pipefail
build=$1 root=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH=$build/bin:$PATH GRADWEAVE_HOME=$root GRADWEAVE_LIB_DIR=$build/lib
failed=0 commands=0
cd "$scratch"
while IFS= read -r line; do
  case $line in
  '    $ '*)
    commands=$((commands + 1))
    if ! bash -c "${line#'    $ '}" >printed 2>errors </dev/null; then
      echo "FAIL ${line#'    $ '}: $(tail -n 1 errors)"
      failed=1
    fi
    ;;
  '    '*)
    if ! grep -q -x -F -- "${line#'    '}" printed; then
      echo "FAIL not printed: ${line#'    '}"
      failed=1
    fi
    ;;
  esac
done <"$root/docs/walk.md"
[ "$commands" -gt 0 ] || { echo "FAIL docs/walk.md has no commands"; failed=1; }
exit "$failed"
