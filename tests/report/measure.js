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
  parent.postMessage({
    dark: light(getComputedStyle(document.body).backgroundColor) < 0.1, width: window.innerWidth,
    problems: problems.length ? problems.length + ' problems; ' + problems.slice(0, 5).join('; ') : 'none'
  }, '*');
});
