# shellcheck shell=bash
# One proof with Yosys; sourced by run.sh.
#
# Set by run.sh: here (this directory), build, work (the job's directory). Set here: found (what a line should end with).
root=$(cd "${here:?}/.." && pwd)
found=
# shellcheck source=tests/mutations/mutants.sh
source "$root/tests/mutations/mutants.sh"
list=$here/mutants
rtl=$root/rtl

# read_row LINE: of proofs.txt into variables.
read_row() {
  [ -n "$1" ] || die "no such proof"
  read -r _ props params depth cover_depth _ <<<"$1"
}

# note KEY: what a comment line "// KEY: ..." of the property file says.
note() { sed -n "s,^// $1: ,,p" "$here/props/$props.sv"; }

# value NAME: of a parameter of this proof, or the number that NAME is.
value() {
  local pair
  for pair in ${params//,/ }; do
    if [ "${pair%%=*}" = "$1" ]; then
      echo "${pair#*=}"
      return
    fi
  done
  echo "$1"
}

# design: Yosys commands that elaborate, flatten and simplify the property module with the block in it.
design() {
  local source pair wire memory words i list_of
  echo "read_verilog -sv -formal -defer $build/generated/gw_isa_pkg.sv $build/generated/gw_vector_isa_pkg.sv $(printf '%s ' "$rtl"/*/*_pkg.sv)"
  for source in $(note sources); do echo "read_verilog -sv -formal -defer $rtl/$source"; done
  for source in reset_first $(note helpers) $props; do echo "read_verilog -sv -formal -defer $here/props/$source.sv"; done
  printf 'hierarchy -check -top %s' "$props"
  for pair in ${params//,/ }; do
    [ "$pair" = - ] || printf ' -chparam %s %s' "${pair%%=*}" "${pair#*=}"
  done
  printf '\nsetattr -set keep 1 c:dut\nproc\n'
  # The block's own assertions, where what they need of the environment is not modelled.
  [ -z "$(note trust)" ] || echo "chformal -assert -remove * $props %d"
  printf '%s\n' "select -assert-min 1 $props/t:\$assert" flatten 'memory -nordff'
  note memory | while read -r wire memory words; do
    list_of=
    words=$(value "$words")
    for ((i = 0; i < words; i++)); do list_of="\\${memory}[$i]${list_of:+,$list_of}"; done
    echo "connect -set $wire $list_of"
  done
  for wire in $(note cut); do printf 'cutpoint w:\\%s\n' "$wire"; done
  # What no property depends on goes before time is spent on it.
  printf 'opt_clean\ncheck\nasync2sync\ndffunmap\nopt -full\nasync2sync\ndffunmap\n'
}

# sweep: Yosys commands that make equal functions one, so that the solver need not find out that they are, and the gates few; none
# if the property file does not ask for it. The fast pass makes equal registers one, which the long pass can build on.
sweep() {
  [ -z "$(note sweep)" ] || printf '%s\n' techmap 'abc -fast -g AND,XOR,MUX' 'opt -fast' 'abc -g all' opt_clean
}

# solve NAME COMMAND...: the design, then the commands; the log is NAME.log. False if Yosys says that it failed.
solve() {
  local name=$1
  shift
  {
    design
    printf '%s\n' "$@"
  } >"$work/$name.ys"
  timeout "${GW_FORMAL_TIMEOUT:-900}" yosys -Q -l "$work/$name.log" -s "$work/$name.ys" >/dev/null 2>&1
}

# sound NAME: the run of NAME got as far as the solver, with every name inside the block connected. If not, says so.
sound() {
  if grep -qE "Warning: Wire $props\.\\\\[^$]* is used but has no driver" "$work/$1.log"; then
    found="a name inside the block is not connected, see $work/$1.log"
    return 1
  fi
  if ! grep -qE 'SUCCESS!|FAIL!|proof finished|Reached maximum' "$work/$1.log"; then
    found="the solver did not run: $(grep -m1 ERROR "$work/$1.log" || echo "see $work/$1.log")"
    return 1
  fi
}

base_case="sat -tempinduct -tempinduct-baseonly -set-assumes -show-public -dump_vcd"

# prove: the properties hold, and what covered_o asks for can be reached under the assumptions. One run of Yosys, since
# elaborating the design takes as long as most proofs.
prove() {
  local done=true goal="sat -tempinduct -prove-asserts -set-assumes -maxsteps $depth -show-public -dump_vcd $work/trace.vcd -verify"
  solve proof "$(sweep)" "design -save elaborated" "$goal" "design -load elaborated" "chformal -assert -remove" \
    "tee -o $work/cover.log $base_case $work/cover.vcd -prove covered_o 0 -maxsteps $cover_depth -falsify" || done=false
  sound proof || return 1
  if [ ! -f "$work/cover.log" ]; then
    found="see $work/proof.log, trace $work/trace.vcd"
    return 1
  fi
  rm -f "$work/trace.vcd"
  sound cover || return 1
  if ! $done || ! grep -q 'model found for base case: FAIL' "$work/cover.log"; then
    found="vacuous: covered_o is not reached in $cover_depth cycles, see $work/cover.log"
    return 1
  fi
}

# refute MUTANT: with this fault in the block the solver finds a run from reset that breaks a property. Where that would take
# thousands of cycles, `from: any` starts from any state that the invariants allow: the step of the induction breaks.
# Most mutants are refuted before a sweep would be through; `sweep: yes` asks for one.
refute() {
  local how="$base_case $work/trace.vcd" broken='model found for base case: FAIL'
  if [ "$(field "$1" from)" = any ]; then
    how="sat -tempinduct -tempinduct-inductonly -set-assumes -show-public -dump_vcd $work/trace.vcd"
    broken='Reached maximum number of time steps -> proof failed'
  fi
  mkdir -p "$work/tree"
  cp -r "$root/rtl" "$work/tree/rtl"
  mutate "$1" "$work/tree"
  rtl=$work/tree/rtl
  if solve mutant "$([ -z "$(field "$1" sweep)" ] || sweep)" "$how -prove-asserts -maxsteps $(field "$1" depth) -verify"; then
    found="NOT refuted: $(field "$1" why)"
    return 1
  fi
  sound mutant || return 1
  if ! grep -q "$broken" "$work/mutant.log"; then
    found="neither proven nor refuted, see $work/mutant.log"
    return 1
  fi
  rm -rf "$work/tree"
}
