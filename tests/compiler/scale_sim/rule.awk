# M, K and N of each layer of a SCALE-Sim topology by the rule of its reader (scalesim/topology_utils.py of
# scale-sim-v2: load_arrays_conv, append_topo_arrays, topo_calc_hyperparams), a line a layer; the first line is skipped.
# A depthwise layer (DP in its name) is a layer of one channel there, as often as it has channels: here once.
function number(cell) {
  gsub(/^[ \t]+|[ \t]+$/, "", cell)
  if (cell !~ /^[0-9]+$/) {
    printf "%s:%d: '%s' is no number\n", FILENAME, FNR, cell >"/dev/stderr"
    failed = 1
  }
  return cell + 0
}
function outputs(image, kernel, stride,   quotient) {
  quotient = (image - kernel + stride) / stride
  return quotient == int(quotient) ? quotient : int(quotient) + 1
}
NR == 1 { separator = /,/ ? "," : "\t"; next }
{
  gsub(/\r|\xc2\xa0/, "")
  sub(/, ,1 2,/, ", 1, 2,") # a slip of the published MLPERF tables, which SCALE-Sim's reader ends at
  count = split($0, cell, separator)
  if (count < 8 || cell[2] ~ /^[ \t]*$/) next
  stride_height = number(cell[8])
  stride_width = count > 8 && cell[9] ~ /^[ \t]*[0-9]/ ? number(cell[9]) : stride_height
  m = outputs(number(cell[2]), number(cell[4]), stride_height) * outputs(number(cell[3]), number(cell[5]), stride_width)
  channels = cell[1] ~ /DP/ ? 1 : number(cell[6])
  print m, cell[4] * cell[5] * channels, number(cell[7])
}
END { exit failed }
