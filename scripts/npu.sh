#!/bin/bash
# BUILD=DIR scripts/npu.sh NPU: builds the RTL of one NPU, a name in configs/ or a file, in a build directory that `make`
# has configured, as it is configured. The gradweave command calls it for an NPU that is not built.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# = 1 ] || die "usage: BUILD=DIR scripts/npu.sh NPU"
stamp=$build/.gw-configured
[ -f "$stamp" ] || die "$build is no build directory of make's; set BUILD"
exec 9>"$build/.gw-npu-lock"
flock 9 # two runs that need NPUs build one after the other
mapfile -t configured <"$stamp"
export WERROR=${configured[2]} UNITY=${configured[4]}
choose_npu "$1"
configure "$npus"
compile "gradweave_rtl_$npu_name"
