#!/bin/bash
# run.sh VVP LIBRARIES DIRECTORY [--tamper SED] COMMAND...: runs the command, whose NPU is that of LIBRARIES and records,
# and replays the recording on Icarus. --tamper changes the recording first, to see the replay go red.
set -euo pipefail
vvp=$1 libraries=$2 directory=$3
shift 3
tamper=
if [ "$1" = --tamper ]; then
  tamper=$2
  shift 2
fi

rm -rf "$directory"
mkdir -p "$directory"
recording=$directory/recording
GW_RECORDING=$recording GRADWEAVE_LIB_DIR=$libraries XDG_STATE_HOME=$directory "$@" || {
  echo "run.sh: the run to record failed; nothing was replayed" >&2
  exit 1
}
[ -z "$tamper" ] || sed -i "$tamper" "$recording"

status=0
vvp -n "$vvp" "+recording=$recording" >"$directory/replay.log" </dev/null || status=$?
tail -n 20 "$directory/replay.log"
# An assertion of the RTL that fails, or is X, is an ERROR that does not end the simulation.
if [ "$status" -ne 0 ] || grep -q '^ERROR' "$directory/replay.log"; then
  echo "run.sh: repeat with a waveform: vvp -n $vvp +recording=$recording +dump=replay.fst -fst" >&2
  exit 1
fi
rm "$recording"
