#!/bin/bash
# `make test`: builds everything, then runs every test but the long ones (ctest -L long runs those).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
scripts/bootstrap.sh python
configure "$(default_npus)"
configure_python AUTO
compile all
ctest --test-dir "$build" -LE long -j "${JOBS:-$(nproc)}" --output-on-failure --progress
