#!/bin/sh
# Installs the programs that the tests use, or says exactly what to install.
set -eu

# The tests start servers of their own. Debian keeps PostgreSQL's programs out
# of PATH, the tests look there too.
have_postgres() {
	command -v initdb >/dev/null 2>&1 && command -v postgres >/dev/null 2>&1 && return 0
	for initdb in /usr/lib/postgresql/*/bin/initdb; do
		[ -x "$initdb" ] && [ -x "${initdb%initdb}postgres" ] && return 0
	done
	return 1
}

need=""
command -v tmux >/dev/null 2>&1 || need="$need tmux"
command -v gcc >/dev/null 2>&1 || need="$need gcc libc6-dev" # the race detector links with it
command -v sh >/dev/null 2>&1 || need="$need dash"
command -v python3 >/dev/null 2>&1 || need="$need python3"
command -v redis-server >/dev/null 2>&1 || need="$need redis-server"
have_postgres || need="$need postgresql"
command -v pgbouncer >/dev/null 2>&1 || [ -x /usr/sbin/pgbouncer ] || need="$need pgbouncer"

[ -n "$need" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "the tests need these packages, which are not installed:$need" >&2
	echo "install them (on Debian or Ubuntu: sudo apt-get install$need) and run make test again" >&2
	exit 1
fi

install() {
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# Debian starts a server when its package is installed and gives PostgreSQL a
# first cluster. The tests want neither: what is put in the way of that here
# goes away again at the end.
policy=/usr/sbin/policy-rc.d
cluster=/etc/postgresql-common/createcluster.conf
restore() {
	[ -z "${own_policy:-}" ] || rm -f "$policy"
	[ -z "${own_cluster:-}" ] || sed -i '$d' "$cluster"
}
trap restore EXIT
trap 'exit 1' HUP INT TERM

echo "installing:$need" >&2
apt-get update -qq >&2
if [ ! -e "$policy" ]; then
	own_policy=yes
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod +x "$policy"
fi
case "$need" in
*postgresql*)
	install postgresql-common
	own_cluster=yes
	echo "create_main_cluster = false" >>"$cluster"
	;;
esac
# shellcheck disable=SC2086 # a list of packages
install $need
