#!/bin/bash
# `make clean`: removes the build directory, and nothing that is not one.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ -e "$build" ] || exit 0
[ -f "$build/CMakeCache.txt" ] || [ "$build" = build ] || die "BUILD=$build holds no CMakeCache.txt: not a build directory"
rm -rf -- "$build"
