#!/bin/bash
# scripts/build.sh TARGET...: configures if needed and builds.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh test
configure "$(default_npus)"
compile "$@"
