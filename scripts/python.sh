#!/bin/bash
# `make python`: builds the Python module, but no RTL.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh python
configure_for_models
configure_python ON
compile python
say "PYTHONPATH=$build/python /usr/bin/python3 python/examples/simulate_table.py   (docs/python.md)"
