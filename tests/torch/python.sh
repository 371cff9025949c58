#!/bin/bash
# Sourced by the scripts of this directory.

# Prints an interpreter that has PyTorch; ends with status 77, which ctest takes for skipped, if there is none.
find_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import torch, numpy' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  echo "NOT RUN: PyTorch is not installed; apt-get install python3-torch" >&2
  exit 77
}
