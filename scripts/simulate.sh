#!/bin/bash
# `make simulate`: builds the gradweave command, but no RTL, and runs the timing model. Variables: `make help`.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

args=(simulate --model "${MODEL:-bert_tiny}" --npu "${NPU:-small}" --from-make)
[ -z "${BATCH:-}" ] || args+=(--batch "$BATCH")
[ -z "${SCHEDULE:-}" ] || args+=(--schedule "$SCHEDULE")
[ -z "${PASS:-}" ] || args+=(--pass "$PASS")
[ -z "${LAYERS:-}" ] || args+=(--layers "$LAYERS")
[ -z "${JSON:-}" ] || args+=(--json "$JSON")
[ -z "${TIMES:-}" ] || args+=(--times "$TIMES")

scripts/bootstrap.sh run
configure "$(default_npus)"
compile gradweave
exec "$build/bin/gradweave" "${args[@]}"
