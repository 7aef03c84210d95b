#!/bin/sh
# Fits on a cluster whose workers Slurm starts: sh tools/scale-slurm.sh [start | run | stop] <folder>
#
# Without arguments all three, in a folder of its own. Two nodes of Slurm on this computer, on loopback
# addresses alone; munge has its key and socket in the folder, and no service of the system is touched.
# What is run are the chunks srsh, slurm-job and slurm-fit of vignettes/scale.Rmd, with the address
# 127.0.0.1 added, and then the same with workers that are cancelled (tools/scale-slurm.R). Needs the
# role "scale" of tools/packages.csv and bsvm installed.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)

begin() {  # begin <name> <command ...>: in the background, its process id in a file
  name=$1
  shift
  "$@" >"$folder/$name.out" 2>&1 </dev/null &
  echo $! >"$folder/$name.process"
}

start() {
  # munge wants its socket to be reached by all users
  chmod 711 "$folder"
  mkdir -m 711 "$folder/munge"
  mkdir -p "$folder/state" "$folder/spool/node1" "$folder/spool/node2"
  (umask 077; head -c 128 /dev/urandom >"$folder/munge/key")
  cat >"$folder/slurm.conf" <<END
ClusterName=loopback
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=${port}1
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthInfo=socket=$folder/munge/socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=2
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
NodeName=node1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${port}2 CPUs=2
NodeName=node2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${port}3 CPUs=2
PartitionName=all Nodes=ALL Default=YES
END
  begin munged munged --foreground --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
  sleep 1
  begin slurmctld slurmctld -D
  begin node1 slurmd -D -N node1
  begin node2 slurmd -D -N node2
  for second in $(seq 30); do
    sleep 1
    if sinfo --noheader -o %T 2>/dev/null | grep -q '^idle$'; then return; fi
  done
  echo "Slurm has not started: see $folder" >&2
  return 1
}

chunk() {  # chunk <label>: of the vignette
  awk -v head="^\`\`\`[{][a-z]+ $1," '$0 ~ head { on = 1; next } /^```/ { on = 0 } on' \
    "$tools/../vignettes/scale.Rmd"
}

run() {
  mkdir -p "$folder/work"
  cd "$folder/work"
  chunk srsh >srsh
  chmod +x srsh
  chunk slurm-job >job
  chunk slurm-fit | sed 's/rshcmd = /master = "127.0.0.1", &/' >slurm-fit.R
  cp "$tools/scale-slurm.R" fit.R
  timeout 300 sbatch --wait --nodes=2 --cpus-per-task=1 --output=out job || failed=$?
  cat out
}

stop() {
  scancel --user="$(id -un)" 2>/dev/null || true
  sleep 1
  for name in node2 node1 slurmctld munged; do
    process=$(cat "$folder/$name.process" 2>/dev/null) || continue
    kill "$process" 2>/dev/null || true
    for second in $(seq 10); do
      kill -0 "$process" 2>/dev/null || break
      sleep 1
    done
    kill -9 "$process" 2>/dev/null || true
  done
}

failed=0
port=1700
folder=${2:-$(mktemp -d)}
export SLURM_CONF="$folder/slurm.conf"
case ${1:-all} in
  start | run | stop) $1 ;;
  *)
    trap 'stop; rm -rf "$folder"' EXIT
    start
    run
    ;;
esac
exit $failed
