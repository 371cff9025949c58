# awk -f house.awk architecture.md: the table of floors and rooms as an SVG drawing, the top floor first.
function escape(text) {
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  gsub(/>/, "\\&gt;", text)
  return text
}

function text(x, y, attributes, words) { printf "<text x=\"%d\" y=\"%d\" %s>%s</text>\n", x, y, attributes, escape(words) }

# Draws `words` in lines of at most `most` letters, the first at y.
function wrapped(x, y, most, words,    n, i, word, line, before) {
  n = split(words, word, " ")
  line = ""
  for (i = 1; i <= n; ++i) {
    if (line != "" && length(line) + 1 + length(word[i]) > most) {
      text(x, y, "class=\"does\"", line)
      y += 14
      line = ""
    }
    line = line (line == "" ? "" : " ") word[i]
  }
  text(x, y, "class=\"does\"", line)
}

/^\| [0-9]+ \|/ {
  split($0, cell, "|")
  ++floors
  number[floors] = cell[2] + 0
  rooms[floors] = cell[3]
  does[floors] = cell[4]
  gsub(/[` ]/, "", rooms[floors])
  gsub(/[`]|^ +| +$/, "", does[floors])
}

END {
  if (floors == 0) {
    print "house.awk: no table of floors" > "/dev/stderr"
    exit 1
  }
  width = 1000; left = 60; middle = 500; height = 44; gap = 6; top = 46
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n", width, top + floors * (height + gap) + 30
  print "<title>The house: rooms on floors; a source includes what is in its room or on a lower floor</title>"
  print "<style>.room{fill:#e8eefc;stroke:#4a6fb5}.name{font-size:13px;text-anchor:middle}.does{font-size:11px;fill:#555}.floor{font-size:12px;fill:#555;text-anchor:end}.head{font-size:13px;fill:#333}</style>"
  print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
  text(left, 28, "class=\"head\"", "Rooms on their floors: includes point down, never sideways")
  for (f = 1; f <= floors; ++f) {
    y = top + (f - 1) * (height + gap)
    text(left - 14, y + 27, "class=\"floor\"", number[f])
    n = split(rooms[f], room, ",")
    wide = (middle - left - (n - 1) * gap) / n
    for (r = 1; r <= n; ++r) {
      x = left + (r - 1) * (wide + gap)
      printf "<rect class=\"room\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n", x, y, wide, height
      text(x + wide / 2, y + 27, "class=\"name\"", room[r])
    }
    wrapped(middle + 14, y + (length(does[f]) > 156 ? 12 : length(does[f]) > 78 ? 19 : 27), 78, does[f])
  }
  y = top + floors * (height + gap)
  printf "<path d=\"M24 %d V%d m-5 -8 l5 8 l5 -8\" fill=\"none\" stroke=\"#555\"/>\n", top, y - gap
  text(left, y + 14, "class=\"does\"", "Drawn by docs/drawings/house.awk from the table in docs/architecture.md.")
  print "</svg>"
}
