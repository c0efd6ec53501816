#!/usr/bin/env bash
# Chromium with and without windows, oathtool, openssl, xmlsec1, pysaml2, Authlib, PostgreSQL, MariaDB, Redis and PgBouncer for the tests: installs what is absent, starts what does not answer.
# Tests start PgBouncer themselves, and servers of their own where they change what other tests rely on.
# The tests reach them at their standard ports on 127.0.0.1, PostgreSQL as postgres and MariaDB as root, both without a password.
# A server that AUTHKERNEL_TEST_POSTGRES_URL, _MYSQL_URL or _REDIS_URL names belongs to the developer: it is left alone.
set -uo pipefail

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
has() { command -v "$1" >/dev/null 2>&1; }

postgres_answers() { psql -h 127.0.0.1 -U postgres -d postgres -qtAc 'select 1' >/dev/null 2>&1; }
mariadb_answers() { mariadb -h 127.0.0.1 -u root -e 'select 1' >/dev/null 2>&1; }
redis_answers() { [ "$(redis-cli -h 127.0.0.1 ping 2>/dev/null)" = PONG ]; }

servers=()
[ -n "${AUTHKERNEL_TEST_POSTGRES_URL:-}" ] || servers+=(postgres)
[ -n "${AUTHKERNEL_TEST_MYSQL_URL:-}" ] || servers+=(mariadb)
[ -n "${AUTHKERNEL_TEST_REDIS_URL:-}" ] || servers+=(redis)
wanted() { [[ " ${servers[*]-} " == *" $1 "* ]]; }

missing=()
has chromium || missing+=(chromium)
has chromium-headless-shell || missing+=(chromium-headless-shell)
has oathtool || missing+=(oathtool)
has openssl || missing+=(openssl)
has xmlsec1 || missing+=(xmlsec1)
/usr/bin/python3 -c "import saml2" 2>/dev/null || missing+=(python3-pysaml2)
/usr/bin/python3 -c "import authlib, requests" 2>/dev/null || missing+=(python3-authlib python3-requests)
wanted postgres && ! { has psql && [ -d /etc/postgresql ]; } && missing+=(postgresql)
wanted mariadb && ! has mariadbd && missing+=(mariadb-server)
wanted redis && ! has redis-server && missing+=(redis-server)
has pgbouncer || [ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}"
  as_root apt-get update -qq || exit 1
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || exit 1
fi

start_postgres() {
  local version
  version=$(ls /etc/postgresql | sort -n | tail -1)
  as_root pg_ctlcluster --skip-systemctl-redirect "$version" main start
  # A server of Debian's package as it comes: only its own user, only by socket. Never touched when it already answers us.
  postgres_answers && return
  as_root sed -i '1i host all all 127.0.0.1/32 trust' "/etc/postgresql/$version/main/pg_hba.conf"
  as_root su postgres -c "psql -qc 'select pg_reload_conf()'" >/dev/null
}
start_mariadb() {
  as_root start-stop-daemon --start --oknodo --background --exec /usr/sbin/mariadbd
  for _ in $(seq 30); do as_root mariadb -e 'select 1' >/dev/null 2>&1 && break; sleep 1; done
  mariadb_answers && return
  as_root mariadb -e "alter user root@localhost identified via mysql_native_password using password('') or unix_socket"
}
start_redis() {
  as_root redis-server --daemonize yes --bind 127.0.0.1 --port 6379 --save '' --appendonly no >/dev/null
}

bad=0
for name in "${servers[@]+"${servers[@]}"}"; do
  "${name}_answers" || "start_$name"
  for _ in $(seq 30); do "${name}_answers" && break; sleep 1; done
  if "${name}_answers"; then echo "$name answers"; else echo "$name does not answer on 127.0.0.1"; bad=1; fi
done
for browser in chromium chromium-headless-shell; do
  "$browser" --version --no-sandbox || { echo "$browser does not start"; bad=1; }
done
exit $bad
