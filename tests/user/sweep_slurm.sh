#!/bin/bash
# sweep_slurm.sh BUILD SOURCE: a sweep of a thousand points on a real Slurm of one node, whose node dies and one of whose jobs is cancelled
# meanwhile, gives the table of a local one. Exit code 77: no Slurm is installed, or this is not root.
set -euo pipefail
gradweave=$1/bin/gradweave
source=$2
for tool in sbatch slurmctld slurmd munged setpriv; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: a Slurm of its own takes root"; exit 77; }

work=$(mktemp -d)
chmod 755 "$work"
port=$((20000 + $$ % 20000))
cleanup() {
  scancel --name="$(job_name)" 2>/dev/null || true
  "$source/tests/user/local_slurm.sh" stop "$work/slurm" || true
  rm -rf "$work"
}
job_name() { sed -n 's/^#SBATCH --job-name=//p' "$work/sweep.shards/job.sh" 2>/dev/null; }
trap cleanup EXIT
fail() {
  printf 'FAIL: %s\n' "$*" >&2
  exit 1
}
cd "$work"
printf 'name,M,K,N\na,20,30,40\nb,133,17,50\nc,64,48,16\n' >net.csv
study=(sweep --model ./net.csv --npu test8 --set 'npu.rows=2..51' --set 'memory.latency_cycles=1..20')
"$gradweave" "${study[@]}" --out local.db --csv local.csv --quiet >/dev/null
[ "$(grep -c ,ok, local.csv)" -eq 1000 ] || fail "the local sweep has no thousand points"

"$source/tests/user/local_slurm.sh" start "$work/slurm" "$port"
export SLURM_CONF=$work/slurm/slurm.conf
if "$gradweave" "${study[@]}" --slurm --slurm-partition nosuch --quiet 2>errors; then fail "a partition that there is not is taken"; fi
grep -qi partition errors || fail "the partition is not named: $(cat errors)"

"$gradweave" "${study[@]}" --slurm --slurm-tasks 10 --slurm-partition main --slurm-time 10:00 --slurm-memory 100M --quiet
kept() { { "$gradweave" sweep collect --out seen.db sweep.shards --csv - 2>/dev/null || true; } | grep -c ,ok, || true; }
for _ in $(seq 300); do [ "$(kept)" -ge 100 ] && break; sleep 0.2; done
"$source/tests/user/local_slurm.sh" kill-node "$work/slurm"
for task in $(pgrep -f "^$gradweave sweep $work/sweep.shards" || true); do kill -9 "$task"; done # with its node
sleep 1
"$source/tests/user/local_slurm.sh" start-node "$work/slurm"
scancel "$(squeue --noheader --array --name="$(job_name)" --format=%A | tail -n 1)"
before=$(kept)
[ "$before" -lt 1000 ] || fail "all was done before anything was killed"

"$gradweave" "${study[@]}" --slurm --slurm-wait --csv slurm.csv --quiet >/dev/null || true
# What was cancelled before this submission had gone is submitted again.
"$gradweave" "${study[@]}" --slurm --slurm-wait --csv slurm.csv --quiet >/dev/null
cmp local.csv slurm.csv || fail "the tables differ"
points_of() { "$gradweave" sweep collect "$1" --csv - 2>/dev/null || true; } # says that the points of other shares are missing
twice=$(for share in sweep.shards/*.db; do points_of "$share" | grep ,ok, | cut -d, -f1; done | sort | uniq -d | wc -l)
[ "$twice" -eq 0 ] || fail "$twice points were done twice"
echo "$before of 1000 points were there when the node died"
