#!/bin/sh
# Installs the programs that the tests use, or says exactly what to install.
set -eu

need=""
command -v tmux >/dev/null 2>&1 || need="$need tmux"
command -v gcc >/dev/null 2>&1 || need="$need gcc libc6-dev" # the race detector links with it
command -v sh >/dev/null 2>&1 || need="$need dash"

[ -n "$need" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing:$need" >&2
	apt-get update -qq >&2
	# shellcheck disable=SC2086 # a list of packages
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $need >&2
	exit 0
fi
echo "the tests need these packages, which are not installed:$need" >&2
echo "install them (on Debian or Ubuntu: sudo apt-get install$need) and run make test again" >&2
exit 1
