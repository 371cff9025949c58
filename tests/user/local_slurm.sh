#!/bin/bash
# local_slurm.sh start|kill-node|start-node|stop DIR PORT: a Slurm of one node on the loopback, as root; DIR/slurm.conf is what SLURM_CONF
# has to name, PORT the first of two.
set -euo pipefail
command=$1 dir=$2 port=${3:-}
host=$(hostname -s)

end() { # FILE: the process that wrote its number there
  local pid
  if [ -s "$1" ] && pid=$(cat "$1") && kill "${2:--TERM}" "$pid" 2>/dev/null; then
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.1; done
  fi
}

case $command in
start)
  mkdir -p "$dir/state" "$dir/spool" "$dir/munge"
  head -c 1024 /dev/urandom >"$dir/munge.key"
  chmod 400 "$dir/munge.key"
  chmod 755 "$dir" "$dir/munge"
  chown munge: "$dir/munge.key" "$dir/munge"
  cat >"$dir/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ReturnToService=2
SchedulerParameters=sched_interval=1
SlurmdTimeout=10
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
  setpriv --reuid=munge --regid=munge --clear-groups munged --force --key-file="$dir/munge.key" --socket="$dir/munge/socket" \
    --pid-file="$dir/munge/munged.pid" --log-file="$dir/munge/munged.log" --seed-file="$dir/munge/seed"
  export SLURM_CONF="$dir/slurm.conf"
  slurmctld
  slurmd
  for _ in $(seq 60); do
    if sinfo -h -o %T 2>/dev/null | grep -q idle; then exit 0; fi
    sleep 0.5
  done
  echo "Slurm does not come up: $(tail -n 5 "$dir/slurmctld.log")" >&2
  exit 1
  ;;
kill-node) end "$dir/slurmd.pid" -KILL ;;
start-node) SLURM_CONF="$dir/slurm.conf" slurmd ;;
stop) for file in slurmd.pid slurmctld.pid munge/munged.pid; do end "$dir/$file"; done ;;
*)
  echo "start, kill-node, start-node or stop" >&2
  exit 2
  ;;
esac
