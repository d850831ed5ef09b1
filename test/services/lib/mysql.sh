# MariaDB, or by SERVER=mysql what mysqld.sh starts. Sourced by ../services.
# shellcheck shell=bash

MYSQL_IMAGE=${MYSQL_IMAGE:-mariadb:10.11}

# mysql_is NAME: whether that server is asked for.
mysql_is() {
  case "${SERVER:-mariadb}" in
    mariadb | mysql) [ "${SERVER:-mariadb}" = "$1" ] ;;
    *) fail "SERVER is '$SERVER': mariadb or mysql" ;;
  esac
}

mysql_ports() { draw_port mysql; }

mysql_password() { cat "$DIR/mysql/password"; }

# mysql_options: durability and size, the same for a process and a container.
mysql_options() {
  local pool=2G log=512M
  if [ "${SMALL:-0}" = 1 ]; then pool=256M log=96M; fi
  cat <<OPTIONS
--skip-name-resolve
--max-connections=500
--character-set-server=utf8mb4
--innodb-buffer-pool-size=${BUFFER_POOL:-$pool}
--innodb-log-file-size=$log
OPTIONS
  # The mode of MySQL 8, which refuses more than MariaDB's own: what passes here passes there.
  echo "--sql-mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
  echo --binlog-format=ROW
  binlog_options
  if [ "${FAST:-0}" = 1 ]; then
    # 2, not 0: each commit reaches the kernel, so kill -9 loses nothing.
    printf '%s\n' --innodb-flush-log-at-trx-commit=2 --innodb-doublewrite=0 --innodb-flush-method=nosync
  else
    echo --innodb-flush-log-at-trx-commit=1
  fi
}

# binlog_options: what MariaDB and MySQL log for replicas. By FAST=1 they log nothing, unless they are numbered.
binlog_options() {
  local sync=1
  if [ "${FAST:-0}" = 1 ]; then sync=0; fi
  if [ "${BINLOG:-1}" = 0 ] || { [ "$sync" = 0 ] && [ -z "${SERVER_ID:-}" ]; }; then
    echo --skip-log-bin
  else
    printf '%s\n' --log-bin=binlog "--server-id=${SERVER_ID:-1}" "--sync-binlog=$sync"
  fi
}

# mysql_account: run at each start, by the server itself, before it listens.
mysql_account() {
  local password
  password=$(mysql_password)
  cat <<SQL
CREATE DATABASE IF NOT EXISTS scheduler;
CREATE USER IF NOT EXISTS 'scheduler'@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON *.* TO 'scheduler'@'%' WITH GRANT OPTION;
SQL
}

mysql_probe() {
  local client=mariadb
  have mariadb || client=mysql
  MYSQL_PWD=$(mysql_password) "$client" --no-defaults --protocol=TCP --host=127.0.0.1 --port="$(port_of mysql)" \
    --user=scheduler --connect-timeout=2 --batch --skip-column-names --execute='SELECT 1' scheduler
}

mysql_container_probe() {
  docker exec "$(container_of mysql)" sh -c \
    'MYSQL_PWD=$1 exec mariadb --no-defaults --protocol=TCP --host=127.0.0.1 --user=scheduler --execute="SELECT 1" scheduler' \
    sh "$(mysql_password)"
}

mysql_up() {
  local root=$DIR/mysql
  ! running mysql || return 0
  mkdir -p "$root"
  if [ ! -s "$root/password" ]; then
    (umask 077 && od -An -N12 -tx1 /dev/urandom | tr -d ' \n' >"$root/password")
  fi
  (umask 077 && mysql_account >"$root/account.sql")
  if mysql_is mysql; then
    if mysqld_found; then
      mysqld_process
    elif docker_answers; then
      mysqld_container
    else
      fail "mysql needs MySQL's mysqld: run SERVER=mysql test/services/install mysql"
    fi
  elif have mariadbd && have mariadb-install-db && { have mariadb || have mysql; }; then
    mysql_process
  elif docker_answers; then
    mysql_container
  else
    fail "mysql needs mariadbd, mariadb-install-db and mariadb (Debian: mariadb-server-core mariadb-client-core): run test/services/install mysql"
  fi
}

mysql_process() {
  local root=$DIR/mysql user='' option
  if [ "$(id -u)" = 0 ]; then user=--user=root; fi
  if [ ! -d "$root/data" ]; then
    # Into a directory beside it: an interrupted installation is never taken for a whole one.
    # By a relative path: as root the script gives the path unquoted to chown, a space would break it.
    rm -rf "$root/data.new"
    # shellcheck disable=SC2086 # empty means none
    (cd "$root" && mariadb-install-db --no-defaults $user --datadir=./data.new --auth-root-authentication-method=normal \
      --skip-test-db --skip-name-resolve >>"$DIR/log/mysql.log" 2>&1) || not_started mysql "mariadb-install-db failed"
    mv "$root/data.new" "$root/data"
  fi
  # The socket is relative: it lies in the data directory and escapes the limit of 107 characters.
  # A folder of its own for temporary tables: a server that starts removes those that it finds,
  # and another one that works there would end with a fault.
  mkdir -p "$root/tmp"
  set -- --no-defaults --datadir="$root/data" --tmpdir="$root/tmp" --socket=mysql.sock --pid-file=mysqld.pid --init-file="$root/account.sql" \
    --skip-networking=0 --bind-address=127.0.0.1 --port="$(port_of mysql)"
  [ -z "$user" ] || set -- "$@" "$user"
  while read -r option; do set -- "$@" "$option"; done <<OPTIONS
$(mysql_options)
OPTIONS
  launch_clocked mysql mariadbd "$@"
  await mysql 60 mysql_probe
}

# clock_library: what lets a program see another time than the machine's; nothing where it is not installed.
clock_library() {
  local library
  for library in /usr/lib/*/faketime/libfaketimeMT.so.1; do
    if [ -e "$library" ]; then echo "$library"; fi
  done
}

# launch_clocked NAME COMMAND…: by STORE_CLOCK=FILE its wall clock is off by what the file says, such as +3600 or -10.5
# seconds; it looks each second. The monotonic clock stays right, as when somebody sets the clock of a machine.
launch_clocked() {
  local name=$1 library
  shift
  if [ -z "${STORE_CLOCK:-}" ]; then
    launch "$name" "$@"
    return
  fi
  library=$(clock_library)
  [ -n "$library" ] || fail "STORE_CLOCK needs libfaketime: run test/services/install clock"
  [ -s "$STORE_CLOCK" ] || echo +0 >"$STORE_CLOCK"
  launch "$name" env LD_PRELOAD="$library" FAKETIME_TIMESTAMP_FILE="$STORE_CLOCK" FAKETIME_CACHE_DURATION=1 \
    FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 "$@"
}

mysql_container() {
  local root=$DIR/mysql option
  [ -z "${STORE_CLOCK:-}" ] || fail "STORE_CLOCK needs an installed server: its clock cannot be stepped in a container"
  [ -z "${SERVER_ID:-}" ] || fail "SERVER_ID needs an installed server: run test/services/install mysql as root; a replica in a container does not reach its primary"
  mkdir -p "$root/container-data"
  # The server in the container may be another user than we; DIR itself stays closed to others.
  chmod 644 "$root/account.sql"
  set -- --publish "127.0.0.1:$(port_of mysql):3306" --volume "$root/container-data:/var/lib/mysql" \
    --volume "$root/account.sql:/account.sql:ro" --env MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1 \
    "$MYSQL_IMAGE" --init-file=/account.sql
  while read -r option; do set -- "$@" "$option"; done <<OPTIONS
$(mysql_options)
OPTIONS
  launch_container mysql "$@"
  await mysql 120 mysql_container_probe
}

mysql_exports() {
  if given mysql; then
    emit MYSQL_DSN "$MYSQL_DSN"
    return
  fi
  emit MYSQL_HOST 127.0.0.1
  emit MYSQL_PORT "$(port_of mysql)"
  emit MYSQL_USER scheduler
  emit MYSQL_PASSWORD "$(mysql_password)"
  emit MYSQL_DATABASE scheduler
  emit MYSQL_DSN "scheduler:$(mysql_password)@tcp(127.0.0.1:$(port_of mysql))/scheduler"
}
