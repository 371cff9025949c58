#!/bin/bash
# Runs the proofs of proofs.txt and the mutants that have to refute them; a line for each with its CPU time.
#   formal/run.sh BUILD_DIR [-j JOBS] all|quick|mutants|NAME...
#   formal/run.sh BUILD_DIR apply   only that the mutants still apply to the sources
# Everything it writes is under BUILD_DIR/formal: a directory a job, with its log and, after a failure, trace.vcd.
# Exit code: 0 all as it should be, 1 a proof failed or a mutant was not refuted, 2 usage.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=formal/proof.sh
source "$here/proof.sh"

usage() {
  sed -n '3,4s/^# \?//p' "$here/run.sh" >&2
  exit 2
}

# row NAME: its line of proofs.txt.
row() { awk -v name="$1" '!/^#/ && $1 == name' "$here/proofs.txt"; }

# job NAME: proves it and shows that its assumptions can be met.   job mutant:NAME: refutes it.
job() {
  local name=$1 line kind cpu outcome=PASS
  if [[ $name == mutant:* ]]; then
    line=$(row "$(field "${name#mutant:}" proof)")
    kind="mutant of $(field "${name#mutant:}" proof)"
  else
    line=$(row "$name")
  fi
  read_row "$line"
  [ -n "${kind:-}" ] || kind="unbounded, induction k<=$depth"
  work=$out/${name/:/-}
  rm -rf "$work"
  mkdir -p "$work"
  if [[ $name == mutant:* ]]; then
    refute "${name#mutant:}" || outcome=FAIL
  else
    prove || outcome=FAIL
  fi
  times >"$work/times"
  cpu=$(awk -F'[ms ]+' 'NR == 2 {printf "%.1f", 60 * ($1 + $3) + $2 + $4}' "$work/times")
  printf '%s  %-32s %-34s %6s s%s\n' "$outcome" "$name" "$kind" "$cpu" "${found:+  $found}"
  [ "$outcome" = PASS ]
}

[ $# -ge 2 ] || usage
mkdir -p "$1/formal"
build=$(cd "$1" && pwd)
out=$build/formal
shift
if [ "$1" = job ]; then
  job "$2"
  exit
fi
if [ "$1" = apply ]; then
  apply_all
  exit
fi
jobs=$(nproc)
if [ "$1" = -j ]; then
  jobs=$2
  shift 2
fi

names=()
for wanted in "$@"; do
  proofs=$(awk '!/^#/ && NF {print $1}' "$here/proofs.txt")
  mutants=$(cd "$here/mutants" && printf 'mutant:%s\n' *.txt | sed 's/\.txt$//')
  case $wanted in
  all) mapfile -t -O ${#names[@]} names < <(printf '%s\n' "$proofs" "$mutants") ;;
  quick) mapfile -t -O ${#names[@]} names < <(awk '!/^#/ && $NF == "quick" {print $1}' "$here/proofs.txt") ;;
  mutants) mapfile -t -O ${#names[@]} names < <(printf '%s\n' "$mutants") ;;
  *)
    grep -qxF -- "$wanted" <<<"$proofs"$'\n'"$mutants" || die "no proof '$wanted' in $here/proofs.txt or $here/mutants"
    names+=("$wanted")
    ;;
  esac
done
[ -f "$build/generated/gw_isa_pkg.sv" ] || die "$build/generated/gw_isa_pkg.sv is missing: ninja -C $build isa_generated"

SECONDS=0
status=0
printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I{} "${BASH_SOURCE[0]}" "$build" job {} || status=1
say=$([ $status = 0 ] && echo "as they should be" || echo "NOT all as they should be")
printf '%d proofs and mutants, %s, in %d s\n' "${#names[@]}" "$say" "$SECONDS"
exit $status
