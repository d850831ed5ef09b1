# Redis, without persistence: the product keeps nothing there that must last. Sourced by ../services.
# shellcheck shell=bash

REDIS_IMAGE=${REDIS_IMAGE:-redis:7}

redis_ports() { draw_port redis; }

redis_probe() {
  local port answer=''
  port=$(port_of redis)
  answer=$(exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'PING\r\n' >&3 && IFS= read -r -t 2 line <&3 && printf '%s' "$line")
  case "$answer" in +PONG*) ;; *) return 1 ;; esac
}

redis_up() {
  ! running redis || return 0
  mkdir -p "$DIR/redis"
  if have redis-server; then
    launch redis redis-server --port "$(port_of redis)" --bind 127.0.0.1 --save '' --appendonly no --dir "$DIR/redis"
  elif docker_answers; then
    launch_container redis --publish "127.0.0.1:$(port_of redis):6379" "$REDIS_IMAGE" redis-server --save '' --appendonly no
  else
    fail "redis needs redis-server (Debian: redis-server): run test/services/install redis"
  fi
  await redis 30 redis_probe
}

redis_exports() { emit REDIS_ADDR "127.0.0.1:$(port_of redis)"; }
