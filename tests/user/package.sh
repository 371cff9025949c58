#!/bin/bash
# package.sh BUILD SOURCE CXX: the package for Debian, made by CPack of a build that is for any machine, is without errors by lintian, and
# installs in a Debian 12 that has nothing else; there the command runs and a program that links the library prints the same cycles.
# PORTABLE names a build directory with -DGW_PORTABLE=ON, else one is built in a temporary directory; ROOT a directory with a bare Debian 12,
# which is copied, else mmdebstrap makes one from Debian's servers. Exit code 77: this is not root, or a tool is missing.
set -euo pipefail
build=$1 source=$2 cxx=$3
for tool in cpack dpkg-deb lintian chroot; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: a Debian of its own takes root"; exit 77; }
if [ -z "${ROOT:-}" ] && ! command -v mmdebstrap >/dev/null; then
  echo "skipped: neither is mmdebstrap installed nor does ROOT name a Debian 12"
  exit 77
fi
work=$(mktemp -d)
chmod 755 "$work"
cleanup() {
  for mounted in proc dev; do umount "$work/root/$mounted" 2>/dev/null || true; done
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
fail() {
  printf 'FAIL: %s\n' "$*" >&2
  exit 1
}
logged() { # COMMAND...
  "$@" >"$work/log" 2>&1 || fail "$*: $(tail -n 8 "$work/log")"
}

portable=${PORTABLE:-$work/portable}
if [ "$(sed -n 's/^GW_PORTABLE:BOOL=//p' "$build/CMakeCache.txt")" = ON ]; then portable=$build; fi
if [ ! -f "$portable/CMakeCache.txt" ]; then
  logged cmake -S "$source" -B "$portable" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGW_RTL=OFF -DGW_PORTABLE=ON -DCMAKE_CXX_COMPILER="$cxx"
  targets=(gradweave_programs gradweave_library gw_references)
  if grep -q '^build python:' "$portable/build.ninja"; then targets+=(python); fi
  logged cmake --build "$portable" --target "${targets[@]}"
fi
(cd "$portable" && logged cpack -G DEB -B "$work")
package=$(find "$work" -maxdepth 1 -name '*.deb')
[ -f "$package" ] || fail "cpack makes no package: $(tail -n 5 "$work/log")"
lintian --fail-on error "$package" >"$work/lintian" || fail "lintian: $(cat "$work/lintian")"

if [ -n "${ROOT:-}" ]; then cp -a "$ROOT" "$work/root"; else logged mmdebstrap --mode=root --variant=apt bookworm "$work/root"; fi
cp /etc/resolv.conf "$work/root/etc/"
mount -t proc proc "$work/root/proc"
mount --bind /dev "$work/root/dev"
cp "$package" "$work/root/tmp/gradweave.deb"
cp -r "$source/tests/user/consumer" "$work/root/tmp/"
inside() { env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root DEBIAN_FRONTEND=noninteractive chroot "$work/root" "$@"; }
logged inside apt-get update -q
logged inside apt-get install -q -y --no-install-recommends /tmp/gradweave.deb
! inside sh -c 'command -v c++' >/dev/null || fail "the Debian has a compiler already: it is not bare"
cycles() { inside gradweave simulate --model "$1" --npu "$2" --quiet --plan-cache off | sed -n 's/^time *\([0-9,]*\) cycles.*/\1/p' | tr -d ,; }
there=$(cycles resnet50 small)
here=$(GRADWEAVE_HOME=$source "$build/bin/gradweave" simulate --model resnet50 --npu small --quiet --plan-cache off |
  sed -n 's/^time *\([0-9,]*\) cycles.*/\1/p' | tr -d ,)
if [ -z "$there" ] || [ "$there" != "$here" ]; then fail "resnet50 takes $there cycles there and $here here"; fi
if [ -n "$(dpkg-deb --contents "$package" | grep '_core.*\.so$' || true)" ]; then
  logged inside apt-get install -q -y --no-install-recommends python3 python3-numpy
  [ "$(inside python3 -c 'import gradweave; print(gradweave.simulate("mlp", "test8", plan_cache="off")["verdict"])')" = PASS ] ||
    fail "Python does not find the module"
fi

logged inside apt-get install -q -y --no-install-recommends g++ cmake make pkg-config libfmt-dev nlohmann-json3-dev
mlp=$(cycles mlp test8)
logged inside cmake -S /tmp/consumer -B /tmp/by-cmake
logged inside cmake --build /tmp/by-cmake
[ "$(inside /tmp/by-cmake/consumer mlp test8)" = "$mlp" ] || fail "by CMake: not the $mlp cycles of the command"
# shellcheck disable=SC2016 # the words are of the shell there
logged inside sh -c 'c++ /tmp/consumer/consumer.cpp $(pkg-config --cflags --libs gradweave) -o /tmp/by-pkg-config'
[ "$(inside /tmp/by-pkg-config mlp test8)" = "$mlp" ] || fail "by pkg-config: not the $mlp cycles of the command"
logged inside dpkg --purge gradweave
left=$(inside find /usr -path '*gradweave*' | head -n 3)
[ -z "$left" ] || fail "purged, it leaves $left"
echo "$(basename "$package"), $(stat -c %s "$package") bytes: resnet50 $there cycles, mlp $mlp by command and by both programs; lintian: $(grep -c '^W:' "$work/lintian" || true) warnings"
