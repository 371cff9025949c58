#!/bin/bash
# `make format`: rewrites the C++ in the project's style (.clang-format).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh lint
git ls-files -z -- '*.cpp' '*.hpp' | xargs -0 clang-format -i
