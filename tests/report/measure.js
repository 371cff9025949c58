// Appended to a page by look.sh, which stands in a frame: measures what is drawn, and tells the frame's page what is wrong.
window.addEventListener('load', function () {
  'use strict';
  var problems = [], cells = document.querySelectorAll('th, td'), wide = document.documentElement.clientWidth;
  function say(what, element) { problems.push(what + ': ' + element.textContent.slice(0, 60)); }

  // A cell is clipped if its content reaches beyond it, or if something hides a part of it that no scrolling brings back.
  Array.prototype.forEach.call(cells, function (cell) {
    if (!cell.getClientRects().length) return;
    var range = document.createRange(), box = cell.getBoundingClientRect();
    range.selectNodeContents(cell);
    Array.prototype.forEach.call(range.getClientRects(), function (part) {
      if (part.right > box.right + 1 || part.left < box.left - 1 || part.bottom > box.bottom + 1) say('clipped cell', cell);
    });
    var scrolls = false;
    for (var e = cell; e && !scrolls; e = e.parentElement) {
      var style = getComputedStyle(e);
      if (style.overflowX === 'hidden' || style.textOverflow === 'ellipsis') say('a cell in what hides parts', cell);
      scrolls = style.overflowX === 'auto' || style.overflowX === 'scroll';
    }
    if (!scrolls && box.right > wide + 1) say('a cell beyond the edge', cell);
  });
  Array.prototype.forEach.call(document.querySelectorAll('tr'), function (row) {
    if (!row.getClientRects().length) return;
    var line = 0, inside = 0;
    Array.prototype.forEach.call(row.cells, function (cell) {
      var style = getComputedStyle(cell);
      line = Math.max(line, parseFloat(style.lineHeight));
      inside = Math.max(inside, cell.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom));
    });
    if (inside > 4 * line + 2) say('row of ' + (inside / line).toFixed(1) + ' lines', row);
  });
  if (document.documentElement.scrollWidth > wide + 1)
    problems.push('the page is ' + document.documentElement.scrollWidth + ' wide on a screen of ' + wide);

  // Text that is read on what is behind it: the contrast of WCAG, 4.5 for text of this size.
  function light(colour) {
    var parts = colour.match(/[\d.]+/g).slice(0, 3).map(function (v) {
      v = v / 255;
      return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  }
  function behind(element) {
    for (var e = element; e; e = e.parentElement) {
      var colour = getComputedStyle(e).backgroundColor;
      if (colour !== 'rgba(0, 0, 0, 0)' && colour !== 'transparent') return light(colour);
    }
    return 1;
  }
  Array.prototype.forEach.call(document.querySelectorAll('h1, h2, p, td, th, dt, dd, li, code, figcaption, a, svg text'), function (e) {
    if (!e.getClientRects().length || !e.textContent.trim()) return;
    var style = getComputedStyle(e), a = light(e.namespaceURI === 'http://www.w3.org/2000/svg' ? style.fill : style.color), b = behind(e);
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) say('too little contrast', e);
  });
  // A click on a head sorts the rows, another one turns them.
  var table = document.querySelector('table.sortable'), number = table && table.querySelector('th.number:not(:first-child)');
  if (number) {
    var order = [1, 2].map(function () {
      number.click();
      return Array.prototype.map.call(table.tBodies[0].rows, function (row) {
        return parseFloat(row.cells[number.cellIndex].textContent.replace(/,/g, ''));
      });
    });
    if (order[0].some(function (v, i) { return i && v > order[0][i - 1]; })) say('not sorted downwards', number);
    if (order[1].some(function (v, i) { return i && v < order[1][i - 1]; })) say('not sorted upwards', number);
  }

  // The timeline zooms and moves by wheel, keys, buttons and dragging; each shows other cycles than before.
  var canvas = document.getElementById('timeline-canvas'), range = document.getElementById('range'), seen = [];
  function pointer(name, x) {
    canvas.dispatchEvent(new PointerEvent(name, { pointerId: 1, clientX: x, clientY: 60, bubbles: true }));
  }
  var steps = !canvas ? [] : [
    function () { canvas.setPointerCapture = function () {}; }, // which wants a real pointer
    function () { canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -400, clientX: 300, cancelable: true })); },
    function () { canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '+' })); },
    function () { canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' })); },
    function () { pointer('pointerdown', 200); pointer('pointermove', 260); pointer('pointerup', 260); },
    function () { document.getElementById('zoom-out').click(); },
    function () { canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '0' })); }
  ];
  function next() {
    if (seen.length) {
      seen[seen.length - 1] = range.textContent;
      var last = seen.length - 1;
      if (last > 0 && seen[last] === seen[last - 1]) problems.push('step ' + last + ' of the timeline shows ' + seen[last] + ' again');
    }
    if (seen.length < steps.length) {
      steps[seen.length]();
      seen.push('');
      setTimeout(next, 100);
      return;
    }
    if (canvas && seen[seen.length - 1] !== seen[0]) problems.push('the timeline does not come back to ' + seen[0]);
    parent.postMessage({
      dark: light(getComputedStyle(document.body).backgroundColor) < 0.1, width: window.innerWidth,
      problems: problems.length ? problems.length + ' problems; ' + problems.slice(0, 5).join('; ') : 'none'
    }, '*');
  }
  next();
});
