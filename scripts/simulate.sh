#!/bin/bash
# `make simulate`: builds the gradweave command, but no RTL, and runs the timing model. Variables: `make help`.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

args=(simulate --model "${MODEL:-bert_tiny}" --npu "${NPU:-small}" --from-make)
add_work_args
[ -z "${STEP:-}" ] || args+=(--step)
[ -z "${SPARSE:-}" ] || args+=(--sparse-embeddings)
[ -z "${OPERATORS:-}" ] || args+=(--operators "$OPERATORS")

scripts/bootstrap.sh model
configure_for_models
programs=(gradweave)
[ -z "${STEP:-}${HTML:-}" ] || programs+=(gradweave-training)
compile "${programs[@]}"
exec "$build/bin/gradweave" "${args[@]}"
