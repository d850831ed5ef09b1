# MySQL itself, where SERVER=mysql asks for it in the stead of MariaDB. Sourced by ../services and ../install.
# A server is taken from, in this order: a mysqld that is installed and is MySQL; one that ../install has unpacked
# into the cache; a container.
# shellcheck shell=bash

MYSQLD_IMAGE=${MYSQLD_IMAGE:-mysql:8.4}

# mysqld_installed: the program, unless that name is MariaDB's, as it is on Debian.
mysqld_installed() {
  local program
  program=$(command -v mysqld) || return 1
  case "$("$program" --no-defaults --version 2>/dev/null)" in
    *MariaDB* | '') return 1 ;;
    *) echo "$program" ;;
  esac
}

# mysqld_cache: where the packages of Debian are unpacked; all work trees share it.
mysqld_cache() { echo "${SERVICES_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/platform-scheduler}/mysql"; }

mysqld_unpacked() { [ -x "$(mysqld_cache)/usr/sbin/mysqld" ]; }

mysqld_found() { mysqld_installed >/dev/null || mysqld_unpacked; }

# mysqld_unpackable: MySQL is in Debian's unstable alone. Its packages can be unpacked, with the libraries that they
# need, beside any Debian; nothing is installed.
mysqld_unpackable() {
  have apt-get && have dpkg && [ -r /usr/share/keyrings/debian-archive-keyring.gpg ] && [ -n "$(debian_mirror)" ]
}

# debian_mirror: the one that this machine uses.
debian_mirror() {
  sed -n -e 's/^URIs: *\([^ ]*\).*/\1/p' -e 's/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\).*/\2/p' \
    /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -n 1
}

# unstable FOLDER COMMAND…: apt-get with lists, cache and state of its own below FOLDER.
unstable() {
  local own=$1
  shift
  apt-get --quiet --quiet -o "Dir::Etc::sourcelist=$own/unstable.sources" -o Dir::Etc::sourceparts=- \
    -o "Dir::State::lists=$own/lists" -o "Dir::Cache=$own/cache" -o "Dir::State::status=$own/status" \
    -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Acquire::Retries=3 "$@" </dev/null >>"$own/log" 2>&1
}

# mysqld_unpack fetches and unpacks into a folder beside the cache's: what was interrupted is never taken for whole.
mysqld_unpack() {
  local cache own package
  cache=$(mysqld_cache)
  mkdir -p "$(dirname "$cache")"
  own=$(mktemp -d "$cache.XXXXXX")
  mkdir -p "$own/lists/partial" "$own/cache/archives/partial" "$own/root"
  : >"$own/status"
  printf 'Types: deb\nURIs: %s\nSuites: sid\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
    "$(debian_mirror)" >"$own/unstable.sources"
  if ! { unstable "$own" update && unstable "$own" install --yes --no-install-recommends --download-only mysql-server-core; }; then
    tail -n 5 "$own/log" >&2
    rm -rf "$own"
    return 1
  fi
  for package in "$own"/cache/archives/*.deb; do dpkg --extract "$package" "$own/root"; done
  rm -rf "$cache"
  mv "$own/root" "$cache"
  rm -rf "$own"
}

# mysqld_command: the words that start the server. What was unpacked needs the loader and the libraries of its own system.
mysqld_command() {
  local program root loader
  if program=$(mysqld_installed); then
    echo "$program"
    return
  fi
  root=$(mysqld_cache)
  for loader in "$root"/usr/lib/*/ld-linux*.so.*; do break; done
  printf '%s\n' "$loader" --library-path "$(dirname "$loader")" "$root/usr/sbin/mysqld"
}

# mysqld_places: which folders what was unpacked has.
mysqld_places() {
  if mysqld_installed >/dev/null; then return 0; fi
  printf '%s\n' "--basedir=$(mysqld_cache)/usr" "--lc-messages-dir=$(mysqld_cache)/usr/share/mysql"
}

# mysqld_options: durability and size, the same for a process and a container, and as in mysql_options.
mysqld_options() {
  local pool=2G log=512M
  if [ "${SMALL:-0}" = 1 ]; then pool=256M log=96M; fi
  cat <<OPTIONS
--skip-name-resolve
--max-connections=500
--max-connect-errors=1000000
--character-set-server=utf8mb4
--mysqlx=OFF
--secure-file-priv=
--innodb-buffer-pool-size=${BUFFER_POOL:-$pool}
--innodb-redo-log-capacity=$log
OPTIONS
  binlog_options
  if [ "${FAST:-0}" = 1 ]; then
    # 2, not 0: each commit reaches the kernel, so kill -9 loses nothing.
    printf '%s\n' --innodb-flush-log-at-trx-commit=2 --innodb-doublewrite=OFF --innodb-flush-method=nosync
  else
    echo --innodb-flush-log-at-trx-commit=1
  fi
}

# mysqld_probe: the server greets who connects only once it takes statements, and its account is there by then.
mysqld_probe() {
  local greeting=''
  exec 3<>"/dev/tcp/127.0.0.1/$(port_of mysql)" || return 1
  IFS= read -r -t 2 -n 6 -u 3 greeting 2>/dev/null || true
  exec 3>&-
  [ -n "$greeting" ]
}

mysqld_process() {
  local root=$DIR/mysql word
  set --
  while read -r word; do set -- "$@" "$word"; done <<WORDS
$(mysqld_command)
--no-defaults
--datadir=$root/data
$(mysqld_places)
WORDS
  if [ "$(id -u)" = 0 ]; then set -- "$@" --user=root; fi
  if [ ! -d "$root/data" ]; then
    rm -rf "$root/data.new"
    "$@" --datadir="$root/data.new" --initialize-insecure >>"$DIR/log/mysql.log" 2>&1 || not_started mysql 'mysqld --initialize failed'
    mv "$root/data.new" "$root/data"
  fi
  mkdir -p "$root/tmp"
  # The socket is relative, as MariaDB's is: see mysql_process.
  set -- "$@" --tmpdir="$root/tmp" --socket=mysql.sock --pid-file=mysqld.pid --init-file="$root/account.sql" \
    --bind-address=127.0.0.1 --port="$(port_of mysql)"
  while read -r word; do set -- "$@" "$word"; done <<OPTIONS
$(mysqld_options)
OPTIONS
  launch_clocked mysql "$@"
  await mysql 120 mysqld_probe
}

# The account is made when the folder is empty, by the image's own means: MySQL makes none while it initializes.
mysqld_container() {
  local root=$DIR/mysql option
  [ -z "${STORE_CLOCK:-}" ] || fail "STORE_CLOCK needs an installed server: its clock cannot be stepped in a container"
  mkdir -p "$root/container-data"
  chmod 644 "$root/account.sql"
  set -- --publish "127.0.0.1:$(port_of mysql):3306" --volume "$root/container-data:/var/lib/mysql" \
    --volume "$root/account.sql:/docker-entrypoint-initdb.d/account.sql:ro" --env MYSQL_ALLOW_EMPTY_PASSWORD=1 "$MYSQLD_IMAGE"
  while read -r option; do set -- "$@" "$option"; done <<OPTIONS
$(mysqld_options)
OPTIONS
  launch_container mysql "$@"
  await mysql 180 mysqld_container_probe
}

# Over TCP: while the image prepares its folder, a server answers at its socket alone.
mysqld_container_probe() {
  docker exec "$(container_of mysql)" sh -c \
    'MYSQL_PWD=$1 exec mysql --no-defaults --protocol=TCP --host=127.0.0.1 --user=scheduler --execute="SELECT 1" scheduler' \
    sh "$(mysql_password)"
}
