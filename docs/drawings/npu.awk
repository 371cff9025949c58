# awk -f npu.awk npu.txt: the blocks that npu.txt names as an SVG drawing.
function escape(text) {
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  gsub(/>/, "\\&gt;", text)
  return text
}

function text(x, y, class, words) { printf "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, y, class, escape(words) }

# The fields from the `first` on.
function rest(first,    i, words) {
  words = $first
  for (i = first + 1; i <= NF; ++i)
    words = words " " $i
  return words
}

BEGIN {
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1030 530\" font-family=\"sans-serif\">"
  print "<title>The NPU: what commands, memory and cores are made of</title>"
  print "<style>.box{fill:#e8eefc;stroke:#4a6fb5}.frame{fill:#fafafa;stroke:#bbb}.title{font-size:12px;text-anchor:middle}.source{font-size:10px;fill:#777;text-anchor:middle;font-family:monospace}.kind{font-size:13px;fill:#333}.label{font-size:11px;fill:#555}.data{stroke:#4a6fb5}.commands{stroke:#b5744a}.tokens{stroke:#4a9a5b;stroke-dasharray:4 3}.arrow{fill:none;stroke-width:1.6}</style>"
  print "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#555\"/></marker></defs>"
  print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
}

/^#/ { next }

$1 == "frame" {
  printf "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", $2, $3, $4, $5
  text($2 + 10, $3 + 20, "kind", rest(6))
  next
}

# The small names under a title, two lines of them where there is room.
function sources(x, y, width, names,    many, i, source, line) {
  many = split(names, source, ",")
  line = ""
  for (i = 1; i <= many; ++i) {
    if (line != "" && length(line " " source[i]) > width / 6.2) {
      text(x, y, "source", line)
      y += 14
      line = ""
    }
    line = line (line == "" ? "" : " ") source[i]
  }
  text(x, y, "source", line)
}

$1 == "box" {
  printf "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n", $2, $3, $4, $5
  text($2 + $4 / 2, $3 + 22, "title", rest(7))
  sources($2 + $4 / 2, $3 + 40, $4, $6)
  next
}

$1 == "arrow" {
  points = $3
  for (i = 4; i <= NF; ++i)
    points = points " " $i
  printf "<polyline class=\"arrow %s\" points=\"%s\" marker-end=\"url(#head)\"/>\n", $2, points
  next
}

$1 == "label" {
  text($2, $3, "label", rest(4))
  next
}

NF > 0 {
  print "npu.awk: what is this: " $0 > "/dev/stderr"
  failed = 1
  exit
}

END {
  if (failed) exit 1
  text(620, 520, "label", "blue: data; brown: commands; green: semaphores and starts")
  text(20, 520, "label", "Drawn by docs/drawings/npu.awk from docs/drawings/npu.txt; the small names are files of rtl/.")
  print "</svg>"
}
