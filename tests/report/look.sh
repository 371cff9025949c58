#!/bin/bash
# look.sh BUILD SOURCE [PICTURES]: pages of all commands that write one, drawn by Chromium at 1280 and 420 pixels, light and dark: no cell is
# clipped, no row taller than four lines, nothing wider than the screen, text readable; then read by the strict parser of python3-html5lib.
# PICTURES: where the screenshots go that docs/pictures keeps. Exit code 77: neither is installed.
set -euo pipefail
PATH=$(realpath "$1")/bin:$PATH # its name alone, which is what pages show
source=$(realpath "$2")
pictures=${3:+$(realpath -m "$3")}
browser=$(command -v chromium || command -v chromium-browser || true)
has_parser() { /usr/bin/python3 -c 'import html5lib' 2>/dev/null; }
if [ -z "$browser" ] && ! has_parser; then
  echo "skipped: neither chromium nor python3-html5lib is installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_STATE_HOME=$work/state GRADWEAVE_PLAN_CACHE=$work/plans
failed=0
fail() {
  printf 'FAIL: %s\n' "$*" >&2
  failed=1
}

page() { # NAME WORD...: a command that writes NAME.html
  local name=$1
  shift
  gradweave "$@" --html "$name.html" --quiet >"$name.log" 2>&1 || fail "$name: $(tail -n 3 "$name.log")"
}
printf 'name,M,K,N\na_layer_with_a_name_that_is_longer_than_any_column_should_be_on_a_narrow_screen_but_names_are_what_users_make_them,20,30,40\nb <b>,9,8,7\n' >names.csv
page simulate simulate --model bert_tiny --npu small
gradweave compile --model mlp --npu test8 --out streams >compile.log 2>&1 || fail "compile: $(tail -n 3 compile.log)"
page stream simulate streams/0-fc1.gws --npu test8
page large simulate --model resnet50 --npu large4 --pass both --batch 8
page cosim cosim --model names.csv --npu test8 --backend functional --schedule all
page timing cosim --model mlp --npu test8c4 --backend timing --partition dy_sharing
page search search --model mlp --npu test8 --plans 5 --step-plans 20
page train train --model lenet --data synthetic --steps 12 --backend functional --npu test8
page sweep sweep --model mlp,ncf --npu test8 --set npu.rows=4,8,16 --set memory.bandwidth_gb_s=4,8 --out sweep.db
study() { # NAME WORD...: an evaluation, whose page becomes NAME.html
  local name=$1
  shift
  if gradweave reproduce "$name" "$@" --out "$name" >"$name.log" 2>&1; then cp "$name/index.html" "$name.html"; else
    fail "reproduce $name: $(tail -n 3 "$name.log")"
  fi
}
study dpt
study memory
study igo --figure 12 --network ncf

chromium() { # DARK WORD...
  local scheme=1
  [ "$1" = light ] || scheme=0
  shift
  rm -rf "$work/profile"
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$work/profile" \
    --blink-settings=preferredColorScheme=$scheme "$@" 2>browser.log
}
looks() { # FILE WIDTH SCHEME
  { sed 's|</body></html>||' "$1" && printf '<script>//<![CDATA[\n' && cat "$source/tests/report/measure.js" && printf '//]]></script></body></html>\n'; } >measured.html
  # In a frame: no window of a desktop is as narrow as a telephone.
  cat >frame.html <<HTML
<!DOCTYPE html><html><body><iframe src="measured.html" style="border:0;width:$2px;height:900px"></iframe><script>
window.addEventListener('message', function (event) {
  Object.keys(event.data).forEach(function (key) { document.body.setAttribute('data-' + key, event.data[key]); });
});
</script></body></html>
HTML
  chromium "$3" --window-size=1400,1000 --virtual-time-budget=4000 --dump-dom "file://$work/frame.html" >dom.html ||
    { fail "$1: chromium does not draw it: $(tail -n 1 browser.log)"; return 0; }
  attribute() { grep -o "data-$1=\"[^\"]*\"" dom.html | head -n 1 | sed 's/^[^"]*"//; s/"$//'; }
  [ "$(attribute problems)" = none ] || fail "$1 at $2 pixels, $3: $(attribute problems)"
  [ "$(attribute width)" = "$2" ] || fail "$1: drawn $(attribute width) pixels wide, not $2"
  [ "$(attribute dark)" = "$([ "$3" = dark ] && echo true || echo false)" ] || fail "$1: is not $3"
}
if [ -n "$browser" ]; then
  for file in *.html; do
    case $file in measured.html | dom.html | frame.html) continue ;; esac
    for width in 1280 420; do
      for scheme in light dark; do looks "$file" "$width" "$scheme"; done
    done
  done
  # What it measures, it sees.
  printf '<!DOCTYPE html><html><head><style>td{max-width:3em;white-space:nowrap;overflow:hidden}</style></head><body><table><tr><td>a text that is clipped</td></tr></table></body></html>' >bad.html
  failed_before=$failed
  if looks bad.html 1280 light 2>/dev/null && [ "$failed" -eq 0 ]; then fail "a clipped cell is not seen"; else failed=$failed_before; fi
  printf '<!DOCTYPE html><html><head></head><body><table><tr><td style="width:3em">one two three four five six seven</td></tr></table></body></html>' >bad.html
  failed_before=$failed
  failed=0
  looks bad.html 1280 light 2>/dev/null
  if [ "$failed" -eq 0 ]; then fail "a row of seven lines is not seen"; else failed=$failed_before; fi
  rm -f bad.html measured.html dom.html frame.html
  if [ -n "$pictures" ]; then
    mkdir -p "$pictures"
    chromium light --window-size=1280,1150 --virtual-time-budget=4000 --screenshot="$pictures/page.png" "file://$work/simulate.html"
    { cat simulate.html && echo '<style>body > :not(#timeline, #timeline ~ *) { display: none }</style>'; } >part.html
    chromium dark --window-size=1280,760 --virtual-time-budget=4000 --screenshot="$pictures/timeline-dark.png" "file://$work/part.html"
    rm part.html
  fi
fi
if has_parser; then
  for file in *.html; do
    /usr/bin/python3 - "$file" <<'PYTHON' || fail "$file: html5lib refuses it"
import sys
import html5lib
html5lib.HTMLParser(strict=True).parse(open(sys.argv[1], "rb"))
PYTHON
  done
fi
for file in *.html; do
  case $file in dpt.html | memory.html | igo.html) continue ;; esac # as long as their figures are many
  [ "$(stat -c %s "$file")" -lt 1000000 ] || fail "$file has $(stat -c %s "$file") bytes"
done
exit "$failed"
