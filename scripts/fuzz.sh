#!/bin/sh
# Runs every fuzz test of the repository for a while, one after the other.
set -eu
for pkg in $(go list ./...); do
	for f in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "== $pkg $f"
		go test -run '^$' -fuzz "^$f\$" -fuzztime "${FUZZTIME:-10s}" "$pkg"
	done
done
