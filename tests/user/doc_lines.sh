# shellcheck shell=bash
# block_lines FILE: the commands of gradweave and make that are a line of code of a page: indented or fenced, with or without a prompt.
block_lines() {
  awk '/^```/ { fenced = !fenced; next } fenced || /^    / { sub(/^ */, ""); sub(/^\$ /, ""); if (/^(gradweave|make) /) print }' "$1"
}
# more_lines FILE: those of Python and SQLite, and what sets variables for one of all these.
more_lines() {
  awk '/^```/ { fenced = !fenced; next } fenced || /^    / { sub(/^ */, ""); sub(/^\$ /, ""); if (/^([A-Z_]+=[^ ]+ )?(python3|sqlite3) /) print }' "$1"
}
# lines_of FILE: these, and code within text, which may be a part of a command.
lines_of() {
  block_lines "$1"
  # shellcheck disable=SC2016 # the quotes are the page's
  grep -o '`\(gradweave\|make\) [a-z][^`]*`' "$1" | tr -d '`' || true
}
