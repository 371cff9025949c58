#!/bin/bash
# BUILD=DIR scripts/program.sh NAME: builds a program of the gradweave command in a build directory that `make` has configured,
# as it is configured. The command calls it for one that is not built.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# = 1 ] || die "usage: BUILD=DIR scripts/program.sh NAME"
[ -f "$build/.gw-configured" ] || die "$build is no build directory of make's; set BUILD"
exec 9>"$build/.gw-npu-lock"
flock 9 # two runs that need something build one after the other
compile "$1"
