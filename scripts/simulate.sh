#!/bin/bash
# `make simulate`: builds the gradweave command, but no RTL, and runs the timing model. Variables: `make help`.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

args=(simulate --model "${MODEL:-bert_tiny}" --npu "${NPU:-small}" --from-make)
add_work_args

scripts/bootstrap.sh model
# Whatever `make cosim` configured can build the command. In a new build directory RTL is left out only where it cannot
# be built, so that a later `make cosim` starts from here.
if [ ! -f "$build/build.ninja" ]; then
  rtl=OFF
  if command -v verilator >/dev/null && [ -e /usr/include/systemc ]; then rtl=ON; fi
  configure "$(default_npus)" "$rtl"
fi
compile gradweave
exec "$build/bin/gradweave" "${args[@]}"
