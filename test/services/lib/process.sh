# Starting, finding and stopping the servers below $DIR. Sourced by ../services.
# run/NAME.pid holds the process, run/NAME.container the container, run/NAME.port the port.
# shellcheck shell=bash

# Debian keeps servers where an ordinary user's PATH does not look.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/sbin:/opt/homebrew/bin

say() { printf 'services: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

docker_answers() { have docker && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# quoted TEXT: TEXT as one word for the shell that reads our exports.
quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

emit() { printf 'export %s=%s\n' "$1" "$(quoted "$2")"; }

port_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# draw_port NAME: choose a port once and remember it, so that a restart keeps it.
# Drawn below the ephemeral range: a client that redials a dead port of that
# range may be given the very port, and the server could not come back.
draw_port() {
  local name=$1 port tries=0
  [ ! -s "$DIR/run/$name.port" ] || return 0
  while [ "$tries" -lt 200 ]; do
    tries=$((tries + 1))
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    if grep -qsx "$port" "$DIR"/run/*.port; then continue; fi
    if port_answers "$port"; then continue; fi
    echo "$port" >"$DIR/run/$name.port"
    return 0
  done
  fail "no free port of 127.0.0.1 found for $name"
}

port_of() { cat "$DIR/run/$1.port"; }

command_line() {
  if [ -d /proc/self ]; then
    tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" || true
  else
    ps -p "$1" -o args= 2>/dev/null || true
  fi
}

# pid_of NAME: the living process, or nothing. A zombie has no command line,
# and a stranger that was given the old number has another one.
pid_of() {
  local pid
  pid=$(cat "$DIR/run/$1.pid" 2>/dev/null) || return 0
  [ -n "$pid" ] || return 0
  case "$(command_line "$pid")" in
    *"$DIR"* | *":$(port_of "$1")"*) echo "$pid" ;;
  esac
}

container_of() {
  local id
  id=$(cat "$DIR/run/$1.container" 2>/dev/null) || return 0
  [ "$(docker inspect -f '{{.State.Running}}' "$id" 2>/dev/null)" = true ] || return 0
  echo "$id"
}

running() { [ -n "$(pid_of "$1")" ] || [ -n "$(container_of "$1")" ]; }

# refuse_taken_port NAME: a stranger's server there would answer in the stead of ours.
refuse_taken_port() {
  if port_answers "$(port_of "$1")"; then fail "port $(port_of "$1") of $1 is taken by another process"; fi
}

# launch NAME COMMAND…: run it detached, in a session of its own, with none of
# our descriptors: an inherited lock or pipe would be held as long as the server lives.
launch() {
  local name=$1 session=''
  shift
  refuse_taken_port "$name"
  if have setsid; then session=setsid; fi
  (
    exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    for fd in /proc/self/fd/[0-9][0-9]*; do
      fd=${fd##*/}
      case "$fd" in 255 | *'*'*) ;; *) eval "exec $fd>&-" ;; esac # 255 is the shell's own
    done
    trap '' HUP
    # shellcheck disable=SC2086 # empty means none
    exec $session "$@" </dev/null >>"$DIR/log/$name.log" 2>&1
  ) &
  echo $! >"$DIR/run/$name.pid"
}

# launch_container NAME ARGUMENTS-OF-DOCKER-RUN…: the data is mounted from
# below DIR, so the container itself is thrown away when it stops.
launch_container() {
  local name=$1
  shift
  refuse_taken_port "$name"
  docker run --detach --rm --user "$(id -u):$(id -g)" "$@" >"$DIR/run/$name.container" 2>>"$DIR/log/$name.log" ||
    not_started "$name" "docker run failed"
}

not_started() {
  say "$1 did not start: $2; the end of its log:"
  tail -n 15 "$DIR/log/$1.log" >&2 || true
  exit 1
}

# await NAME SECONDS PROBE…: until the probe succeeds or the server is gone.
await() {
  local name=$1 deadline=$((SECONDS + $2)) dead=0
  shift 2
  until "$@" >/dev/null 2>&1; do
    # A process just forked has no command line of its own yet: two looks.
    if running "$name"; then dead=0; else dead=$((dead + 1)); fi
    [ "$dead" -lt 3 ] || not_started "$name" "it has ended"
    [ "$SECONDS" -lt "$deadline" ] || not_started "$name" "no answer within the time allowed"
    sleep 0.05
  done
  running "$name" || not_started "$name" "it has ended"
}

# ending NAME: a process that ends gives up its command line first, and its files and ports later. A zombie has given
# up all. Other systems than Linux do not show it.
ending() {
  local pid stat
  pid=$(cat "$DIR/run/$1.pid" 2>/dev/null) || return 1
  [ -n "$pid" ] || return 1
  stat=$(cat "/proc/$pid/stat" 2>/dev/null) || return 1
  stat=${stat##*) } # the name before it may hold anything
  case "$stat" in [ZXx]*) return 1 ;; esac
  [ -z "$(command_line "$pid")" ]
}

await_end() {
  local name=$1 deadline=$((SECONDS + $2))
  while running "$name" || ending "$name"; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.05
  done
}

# stop NAME: ask, then insist after 20 s. Nothing to do if it does not run.
stop() {
  local name=$1 pid id
  pid=$(pid_of "$name")
  if [ -n "$pid" ]; then
    kill -TERM "$pid" 2>/dev/null || true
    kill -CONT "$pid" 2>/dev/null || true # one frozen by a test would never see the first
    await_end "$name" 20 || kill_hard "$name"
  elif ending "$name"; then
    await_end "$name" 20 || fail "$name began to end and does not"
  fi
  id=$(container_of "$name")
  if [ -n "$id" ]; then
    docker stop --time 20 "$id" >/dev/null 2>&1 || true
    await_end "$name" 10 || kill_hard "$name"
  fi
  rm -f "$DIR/run/$name.pid" "$DIR/run/$name.container"
}

kill_hard() {
  local name=$1 pid id
  pid=$(pid_of "$name")
  id=$(container_of "$name")
  [ -n "$pid$id" ] || fail "$name does not run below $DIR"
  if [ -n "$pid" ]; then kill -KILL "$pid" 2>/dev/null || true; fi
  if [ -n "$id" ]; then docker kill "$id" >/dev/null 2>&1 || true; fi
  await_end "$name" 30 || fail "$name outlived kill -9"
}
