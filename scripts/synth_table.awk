# Yosys's `stat` of a design with hierarchy, once before its memories become cells and once at the end -> a table of blocks:
# instances, and per block without its sub-blocks, all instances together: cells, of these flip-flops, and bits of memories.
function block(module) { sub(/\\[A-Z_]+=.*/, "", module); sub(/.*\\/, "", module); sub(/^gw_/, "", module); return module }
FNR == 1 { files++ }
/^=== / { module = $2; hierarchy = module == "design"; next }
files == 2 && hierarchy && NF == 2 && $1 !~ /^Number/ && $2 ~ /^[0-9]+$/ {
  match($0, /^ */)
  depth = int(RLENGTH / 2)
  if ($1 ~ /^\$_|^\$mem/) next
  copies[depth] = $2 * (depth > 1 && (depth - 1) in copies ? copies[depth - 1] : 1)
  instances[$1] += copies[depth]
  next
}
hierarchy { next }
files == 1 && /Number of memory bits:/ { bits[module] = $NF }
files == 1 { next }
NF == 2 && $1 ~ /^\$/ && $1 !~ /paramod/ { cells[module] += $2; if ($1 ~ /DFF|dff/) flops[module] += $2 }
END {
  for (m in instances) {
    b = block(m)
    n[b] += instances[m]
    c[b] += instances[m] * cells[m]
    f[b] += instances[m] * flops[m]
    s[b] += instances[m] * bits[m]
    C += instances[m] * cells[m]; F += instances[m] * flops[m]; S += instances[m] * bits[m]
  }
  print "| block | instances | cells | of these flip-flops | memory bits |"
  print "|---|---|---|---|---|"
  sort = "sort"
  for (b in n) printf "| %s | %d | %d | %d | %d |\n", b, n[b], c[b], f[b], s[b] | sort
  close(sort)
  printf "| **all** | | %d | %d | %d |\n", C, F, S
}
