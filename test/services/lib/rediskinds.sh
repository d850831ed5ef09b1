# The other kinds of Redis that the product connects to: a master behind a Sentinel, and a cluster
# of three masters. Without persistence but for the cluster's own map. Sourced by ../services.
# As containers they need the network of the host, so Linux.
# shellcheck shell=bash

SENTINEL_MASTER=main

# launch_redis NAME ARGUMENTS…: a server on the port of NAME.
launch_redis() {
  local name=$1
  shift
  mkdir -p "$DIR/$name"
  set -- "$@" --port "$(port_of "$name")" --bind 127.0.0.1 --dir "$DIR/$name"
  if have redis-server; then
    launch "$name" redis-server "$@"
  elif docker_answers; then
    launch_container "$name" --network host --volume "$DIR:$DIR" "$REDIS_IMAGE" redis-server "$@"
  else
    fail "$name needs redis-server (Debian: redis-server): run test/services/install redis"
  fi
}

# ask_redis NAME COMMAND: the answer of the server. A Sentinel knows no QUIT: a
# silence of a second ends the answer as well.
ask_redis() {
  (
    exec 3<>"/dev/tcp/127.0.0.1/$(port_of "$1")" && printf '%s\r\nQUIT\r\n' "$2" >&3 || exit 1
    while IFS= read -r -t 1 line <&3; do printf '%s\n' "$line"; done
    true
  )
}

# redis_says NAME COMMAND TEXT: whether the answer holds the text.
redis_says() { case "$(ask_redis "$1" "$2")" in *"$3"*) ;; *) return 1 ;; esac }

sentinel_ports() { draw_port sentinel-master && draw_port sentinel; }

sentinel_probe() { redis_says sentinel "SENTINEL GET-MASTER-ADDR-BY-NAME $SENTINEL_MASTER" "$(port_of sentinel-master)"; }

sentinel_up() {
  if ! running sentinel-master; then
    launch_redis sentinel-master --save '' --appendonly no
    await sentinel-master 30 ask_redis sentinel-master PING
  fi
  if ! running sentinel; then
    # It writes into its file what it learns.
    mkdir -p "$DIR/sentinel"
    echo "sentinel monitor $SENTINEL_MASTER 127.0.0.1 $(port_of sentinel-master) 1" >"$DIR/sentinel/sentinel.conf"
    launch_redis sentinel "$DIR/sentinel/sentinel.conf" --sentinel
  fi
  await sentinel 30 sentinel_probe
}

sentinel_down() { stop sentinel && stop sentinel-master; }

sentinel_exports() {
  emit REDIS_SENTINEL_ADDR "127.0.0.1:$(port_of sentinel)"
  emit REDIS_SENTINEL_MASTER "$SENTINEL_MASTER"
}

rediscluster_ports() { draw_port rediscluster-1 && draw_port rediscluster-2 && draw_port rediscluster-3; }

rediscluster_probe() { redis_says "$1" 'CLUSTER INFO' cluster_state:ok; }

rediscluster_up() {
  local n name
  for n in 1 2 3; do
    name=rediscluster-$n
    if ! running "$name"; then
      launch_redis "$name" --save '' --appendonly no --cluster-enabled yes --cluster-config-file nodes.conf
    fi
    await "$name" 30 ask_redis "$name" PING
  done
  # A map that is there already stays as it is.
  for n in 1 2 3; do
    name=rediscluster-$n
    if redis_says "$name" 'CLUSTER INFO' cluster_slots_assigned:0; then
      ask_redis "$name" "CLUSTER ADDSLOTS $(seq -s ' ' $(((n - 1) * 16384 / 3)) $((n * 16384 / 3 - 1)))" >/dev/null
      ask_redis rediscluster-1 "CLUSTER MEET 127.0.0.1 $(port_of "$name")" >/dev/null
    fi
  done
  for n in 1 2 3; do await "rediscluster-$n" 30 rediscluster_probe "rediscluster-$n"; done
}

rediscluster_down() {
  local n
  for n in 1 2 3; do stop "rediscluster-$n"; done
}

rediscluster_exports() {
  emit REDIS_CLUSTER_ADDRS "127.0.0.1:$(port_of rediscluster-1),127.0.0.1:$(port_of rediscluster-2),127.0.0.1:$(port_of rediscluster-3)"
}
