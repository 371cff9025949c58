# awk -f scratchpad.awk scratchpad.txt: where the elements of tiles lie in rows and lanes, as an SVG drawing.
function text(x, y, class, words) { printf "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, y, class, words }

function cell(x, y, class, words) {
  printf "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", class, x, y, wide, high
  if (words != "") text(x + wide / 2, y + 15, "element", words)
}

# The class of an element: that of a line it is in, of a row or a column, else its tile's.
function class_of(tile, i, j,    n) {
  for (n = 1; n <= lines; ++n) {
    if (line_tile[n] != tile) continue
    if (line_kind[n] == "row" && i == line_at[n] && j >= line_from[n] && j <= line_to[n]) return "row"
    if (line_kind[n] == "column" && j == line_at[n] && i >= line_from[n] && i <= line_to[n]) return "column"
  }
  return type[tile]
}

BEGIN {
  wide = 36
  high = 22
  left = 60
  top = 96
}

/^#/ { next }
$1 == "lanes" { lanes = $2; next }
$1 == "rows" { rows = $2; next }
$1 == "bank" { bank = $2; next }

$1 == "tile" {
  name[++tiles] = $2
  type[$2] = $3
  height[$2] = $4
  width[$2] = $5
  base[$2] = $6
  stride[$2] = $7
  rotation[$2] = $8
  next
}

$1 == "line" {
  line_kind[++lines] = $2
  line_tile[lines] = $3
  line_at[lines] = $4
  line_from[lines] = $5
  line_to[lines] = $6
  next
}

NF > 0 {
  print "scratchpad.awk: what is this: " $0 > "/dev/stderr"
  failed = 1
  exit
}

# A tile as the layer has it: rows and columns, a gap between its panels.
function draw_tile(tile, y,    i, j, x) {
  text(left, y - 30, "kind", tile ": " type[tile] ", " height[tile] " x " width[tile])
  text(left, y - 14, "label", "ROW " base[tile] ", PSTRIDE " stride[tile] ", ROT " rotation[tile])
  for (i = 0; i < height[tile]; ++i)
    for (j = 0; j < width[tile]; ++j) {
      x = left + j * wide + int(j / lanes) * 10
      cell(x, y + i * high, class_of(tile, i, j), i "," j)
    }
}

# What lies in row and lane, by the formula.
function place(tile,    i, j, lane, row) {
  for (i = 0; i < height[tile]; ++i)
    for (j = 0; j < width[tile]; ++j) {
      lane = (rotation[tile] + i + j) % lanes
      row = base[tile] + int(j / lanes) * stride[tile] + (type[tile] == "fp32" ? 2 * i : i)
      put(tile, row, lane, i, j, type[tile] == "fp32" ? "l" : "")
      if (type[tile] == "fp32") put(tile, row + 1, lane, i, j, "h")
    }
}

function put(tile, row, lane, i, j, half) {
  if (row >= rows || (row, lane) in content) {
    print "scratchpad.awk: row " row ", lane " lane " is no place for " tile " " i "," j > "/dev/stderr"
    failed = 1
    exit
  }
  content[row, lane] = i "," j half
  class[row, lane] = class_of(tile, i, j)
}

END {
  if (failed) exit 1
  right = left + 12 * wide + 110
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " right + lanes * wide + 110 " " top + rows * high + 64 "\" font-family=\"sans-serif\">"
  print "<title>The scratchpad: a tile's rows and its columns lie in distinct lanes</title>"
  print "<style>.bf16{fill:#e8eefc;stroke:#4a6fb5}.fp32{fill:#f0f0f0;stroke:#888}.row{fill:#f6c9a8;stroke:#b5744a}.column{fill:#b9e0c2;stroke:#4a9a5b}.free{fill:#fff;stroke:#ddd}.element{font-size:11px;text-anchor:middle}.kind{font-size:13px;fill:#333}.label{font-size:11px;fill:#555}.middle{font-size:11px;fill:#555;text-anchor:middle}.bank{stroke:#333;stroke-width:1.6}</style>"
  print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
  y = top
  for (t = 1; t <= tiles; ++t) {
    draw_tile(name[t], y)
    y += height[name[t]] * high + 80
    place(name[t])
    if (failed) exit 1
  }
  text(right, 24, "kind", "Scratchpad: " lanes " lanes of 16 bits, banks of " bank " rows")
  for (lane = 0; lane < lanes; ++lane)
    text(right + lane * wide + wide / 2, top - 8, "middle", lane)
  text(right - 50, top - 8, "label", "lane")
  for (row = 0; row < rows; ++row) {
    text(right - 50, top + row * high + 15, "label", "row " row)
    for (lane = 0; lane < lanes; ++lane)
      if (!((row, lane) in content)) cell(right + lane * wide, top + row * high, "free", "")
  }
  for (row = 0; row < rows; ++row) # after the free ones, whose frames are paler
    for (lane = 0; lane < lanes; ++lane)
      if ((row, lane) in content) cell(right + lane * wide, top + row * high, class[row, lane], content[row, lane])
  for (row = 0; row <= rows; row += bank)
    printf "<line class=\"bank\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", right - 56, top + row * high, right + lanes * wide + 60, top + row * high
  for (row = 0; row < rows; row += bank)
    text(right + lanes * wide + 12, top + row * high + 16, "label", "bank " row / bank)
  text(left, top + rows * high + 30, "label", "brown: a line along a row, one access, here from one panel into the next; green: one along a column; l and h: low and high half of an fp32 element.")
  text(left, top + rows * high + 50, "label", "Drawn by docs/drawings/scratchpad.awk from docs/drawings/scratchpad.txt.")
  print "</svg>"
}
