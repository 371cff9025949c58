#!/bin/bash
# tests/trace/wave/registers.sh NETLIST.xml: the registers of a design, by their places in the hierarchy, from the netlist that
# `verilator --xml-only` writes, an element a line. A register is what a nonblocking assignment writes. Scopes of generate
# blocks are left out, since Verilator does not name them in the hierarchy.
set -euo pipefail
awk '
  # Attribute of the element in this line.
  function attribute(key,  text) {
    text = $0
    if (!sub(".* " key "=\"", "", text)) return ""
    sub("\".*", "", text)
    return text
  }
  { depth = int(match($0, /[^ ]/) / 2); tag = $1; sub(/^</, "", tag); sub(/[\/>].*/, "", tag) }
  tag == "cell" { instances[attribute("submodname")] = instances[attribute("submodname")] " " attribute("hier") }
  /^ *<\// { next }
  tag == "module" { module = attribute("name") }
  {
    # The how-manieth child of its element this is; the target of an assignment is the second.
    children[depth + 1] = 0
    child = ++children[depth]
    if (skip && depth <= skip) skip = 0
    if (assign && depth <= assign) assign = target = 0
    if (assign && depth == assign + 1) target = child == 2
    # Behind the first child of a selection are its indices.
    if (target && !skip && child > 1 && (parent[depth - 1] == "sel" || parent[depth - 1] == "arraysel")) skip = depth
    parent[depth] = tag
    if (tag == "assigndly") assign = depth
    if (target && !skip && tag == "varref") {
      name = attribute("name")
      sub(/.*\./, "", name)
      registers[module " " name]
    }
  }
  END {
    for (r in registers) {
      split(r, part, " ")
      n = split(instances[part[1]], where, " ")
      for (i = 1; i <= n; i++) {
        sub(/^gw_/, "", where[i]) # as waveforms call the top
        print where[i] "." part[2]
      }
    }
  }
' "$1" | sort -u
