#!/bin/bash
# tutorial.sh BUILD SOURCE: the commands of docs/tutorial.md work as they stand there, one after another; those of make build what is built.
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$source/tests" tests
export PATH=$build/bin:$PATH GRADWEAVE_HOME=$source XDG_STATE_HOME=$work/state GRADWEAVE_PLAN_CACHE=$work/plans
commands=0 failed=0
while IFS= read -r line; do
  case $line in 'make '* | 'export PATH='*) continue ;; esac
  commands=$((commands + 1))
  if ! bash -euc "$line" >printed 2>errors </dev/null; then
    echo "FAIL $line: $(tail -n 2 errors)"
    failed=1
  fi
done < <(sed -n 's/^    //p' "$source/docs/tutorial.md")
[ "$commands" -ge 8 ] || { echo "FAIL docs/tutorial.md has $commands commands"; failed=1; }
for page in *.html; do
  [ "$(stat -c %s "$page")" -lt 1000000 ] || { echo "FAIL $page has $(stat -c %s "$page") bytes"; failed=1; }
done
exit "$failed"
