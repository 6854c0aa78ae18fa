#!/bin/sh
# slurm.sh COMMAND...: runs a command with Slurm on this machine, one node, two processors.
#
#   sh tests/zarr/slurm.sh Rscript tests/zarr/plans.R slurm srun
#
# Starts munged, slurmctld and slurmd by hand, and stops them. Needs Debian's slurmctld, slurmd,
# slurm-client and munge, and root. Exit status 77 where one is missing.

if [ "$(id -u)" != 0 ]; then
  echo "note: Slurm is started by root"
  exit 77
fi
for program in munged slurmctld slurmd srun sbatch scontrol setpriv; do
  if ! command -v "$program" >/dev/null 2>&1; then
    echo "note: no $program"
    exit 77
  fi
done

folder=$(mktemp -d)
chmod 755 "$folder"
host=$(hostname -s)
pids=
stop() {
  # Jobs, where some are left; then the daemons, the last started first.
  if [ -n "$(squeue --noheader 2>/dev/null)" ]; then
    scancel --quiet --user="$(id -un)" 2>/dev/null
    waits=0
    while [ "$waits" -lt 100 ] && [ -n "$(squeue --noheader 2>/dev/null)" ]; do
      waits=$((waits + 1))
      sleep 0.1
    done
    sleep 1
  fi
  for pid in $pids; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

mkdir "$folder/munge" "$folder/state" "$folder/spool"
head -c 1024 /dev/urandom >"$folder/munge/munge.key"
chmod 600 "$folder/munge/munge.key"
chmod 755 "$folder/munge"
chown -R munge:munge "$folder/munge"
setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --force \
  --key-file="$folder/munge/munge.key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" \
  >/dev/null 2>&1 &
pids="$! $pids"

cat >"$folder/slurm.conf" <<EOF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldPort=16817
SlurmdPort=16818
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
MpiDefault=none
KillWait=1
ReturnToService=2
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
EOF
SLURM_CONF=$folder/slurm.conf
export SLURM_CONF

waits=0
until [ -S "$folder/munge/socket" ]; do
  waits=$((waits + 1))
  if [ "$waits" -gt 100 ]; then
    cat "$folder/munge/log"
    exit 1
  fi
  sleep 0.1
done
slurmctld -D >/dev/null 2>&1 &
pids="$! $pids"
slurmd -D >/dev/null 2>&1 &
pids="$! $pids"
waits=0
until sinfo -h -o %t 2>/dev/null | grep -q idle; do
  waits=$((waits + 1))
  if [ "$waits" -gt 300 ]; then
    tail -n 20 "$folder/slurmctld.log" "$folder/slurmd.log"
    exit 1
  fi
  sleep 0.1
done

"$@"
