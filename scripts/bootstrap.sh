#!/bin/bash
# Installs the Debian packages that are missing.   scripts/bootstrap.sh model|python|run|lint|sanitize|fuzz|coverage|mutation
#   model      what `make simulate` needs: no RTL simulator
#   python     model + what the Python module needs
#   run        what `make cosim`, `make test`, `make formal` and `make synth` need
#   lint       run + what the Python module needs + the lint tools
#   sanitize   run + clang-19 with its sanitizers, and a linker that is quick with what they make
#   fuzz       model + clang with libFuzzer
#   coverage   run + clang with its coverage tools, and lcov for the report
#   mutation   run + clang-19, which reads the C++ that gets mutants
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

model_packages=(cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev libtomlplusplus-dev libgtest-dev zlib1g-dev
  libnanoflann-dev libxxhash-dev libzip-dev libonnx-dev libprotobuf-dev libglpk-dev libsqlite3-dev)
python_packages=(pybind11-dev python3-dev python3-numpy)
run_packages=("${model_packages[@]}" verilator libsystemc-dev iverilog yosys)
lint_packages=("${python_packages[@]}" clang-format clang-tidy shellcheck)

tools=(cmake ninja verilator)
case ${1:-run} in
model)
  packages=("${model_packages[@]}")
  tools=(cmake ninja)
  ;;
python)
  packages=("${model_packages[@]}" "${python_packages[@]}")
  tools=(cmake ninja python3)
  ;;
run) packages=("${run_packages[@]}") ;;
lint) packages=("${run_packages[@]}" "${lint_packages[@]}") ;;
sanitize) packages=("${run_packages[@]}" clang-19 libclang-rt-19-dev lld) ;;
fuzz)
  packages=("${model_packages[@]}" clang-19 libclang-rt-19-dev)
  tools=(cmake ninja)
  ;;
coverage) packages=("${run_packages[@]}" clang-19 libclang-rt-19-dev llvm-19 lcov) ;;
mutation) packages=("${run_packages[@]}" clang-19) ;;
*) die "usage: scripts/bootstrap.sh model|python|run|lint|sanitize|fuzz|coverage|mutation" ;;
esac

# has_compiler NAME...: one of them, or the user's CXX, is there.
has_compiler() {
  local cxx
  for cxx in "${CXX:-}" "$@"; do
    [ -n "$cxx" ] && command -v "$cxx" >/dev/null && return 0
  done
  return 1
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  # Not a Debian: whoever runs this installs the same things by other means; CMake names what it does not find.
  for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || die "$tool is missing, and without apt-get it cannot be installed from here"
  done
  has_compiler clang++-19 clang++-16 g++ || die "no C++ compiler is installed, and without apt-get none can be installed from here"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
# clang makes the fastest simulation; g++ will do where nothing can be installed, or once a build directory uses it.
need_compiler=true
if has_compiler clang++-19 clang++-16 || [ -f "$build/CMakeCache.txt" ]; then need_compiler=false; fi
if [ ${#missing[@]} -eq 0 ] && ! $need_compiler; then
  exit 0
fi
if [ ${#missing[@]} -eq 0 ] && has_compiler g++ && [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
  say "clang-19 would simulate faster than g++; to have it: apt-get install clang-19"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    die "packages are missing (${missing[*]:-a C++ compiler}); run as root or install sudo: scripts/bootstrap.sh $*"
  as_root=(sudo)
fi
# A lock held by another apt (unattended upgrades) is waited for, not an error.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 "$@"; }

quietly "reading Debian's package lists" apt update -q
if $need_compiler; then
  # The one that makes the fastest simulation of those that this Debian has.
  for package in clang-19 clang-16 g++; do
    if [ -n "$(apt-cache madison "$package")" ]; then
      missing+=("$package")
      break
    fi
  done
fi
quietly "installing ${missing[*]}" apt install -q -y --no-install-recommends "${missing[@]}"
