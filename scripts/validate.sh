#!/bin/bash
# `make validate`: the standing corpus, timing model against RTL, to the cycle. Variables: `make help`.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
npus=$(default_npus)
configure "$npus"
args=(validate --corpus "${CORPUS:-full}")
wanted=$npus
if [ -n "${NPU:-}" ]; then
  [[ ";$npus;" == *";$NPU;"* ]] || die "NPU=$NPU: the corpus has nothing for it; leave NPU empty, or name one of: ${npus//;/ }"
  args+=(--npu "$NPU")
  wanted=$NPU
fi
[ -z "${JOBS:-}" ] || args+=(--jobs "$JOBS")
[ -z "${JSON:-}" ] || args+=(--json "$JSON")
mapfile -t targets < <(tr ';' '\n' <<<"$wanted" | sed '/^$/d; s/^/gradweave_rtl_/')
compile gradweave gradweave-all "${targets[@]}"
exec "$build/bin/gradweave" "${args[@]}"
