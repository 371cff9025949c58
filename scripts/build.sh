#!/bin/bash
# scripts/build.sh TARGET...: configures if needed and builds.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
configure "$(default_npus)"
compile "$@"
