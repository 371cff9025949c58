'use strict';
// The page of a sweep: draws DATA (page.cpp) as plot and table, both of the points that the filters let through.
(function () {
  var data = JSON.parse(document.getElementById('data').textContent);
  var by = function (id) { return document.getElementById(id); };
  var fields = data.fields, columns = data.columns;
  var colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8a6d3b', '#7f7f7f'];
  var more = 200, shown = more, chosen = null;

  // A point: what it is called, what its fields say, and its numbers; those of a point without a result are null.
  var points = data.points.map(function (raw) {
    var point = { number: raw[0], field: [], value: [] };
    fields.forEach(function (field, f) { point.field.push(field.values[raw[1][f]]); });
    columns.forEach(function (column, c) { point.value.push(raw[2][c]); });
    return point;
  });
  var several = fields.map(function (field, f) { return f; }).filter(function (f) { return fields[f].values.length > 1; });

  // Anything that can be an axis: the numbers, and fields whose values are numbers.
  var axes = columns.map(function (column, c) {
    return { name: column.name, unit: column.unit, of: function (p) { return p.value[c]; } };
  });
  several.forEach(function (f) {
    if (fields[f].values.every(function (v) { return v !== '' && isFinite(v); }))
      axes.push({ name: fields[f].name, unit: '', of: function (p) { return +p.field[f]; } });
  });

  function option(select, text, value) {
    var o = document.createElement('option');
    o.textContent = text; o.value = value;
    select.appendChild(o);
  }
  function element(name, text, parent) {
    var e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  }
  function label(axis) { return axis.name + (axis.unit ? ' (' + axis.unit + ')' : ''); }
  function text(value) {
    if (value === null || value === undefined) return '';
    if (Number.isInteger(value)) return value.toLocaleString('en-US');
    return Math.abs(value) >= 1e5 ? Math.round(value).toLocaleString('en-US') : String(+value.toPrecision(6));
  }

  axes.forEach(function (axis, a) {
    option(by('x'), label(axis), a);
    option(by('y'), label(axis), a);
  });
  var names = axes.map(function (axis) { return axis.name; });
  by('x').value = Math.max(0, names.indexOf(data.x));
  by('y').value = Math.max(0, names.indexOf('milliseconds'));
  option(by('colour'), 'nothing', -1);
  several.forEach(function (f) { option(by('colour'), fields[f].name, f); });
  var start = several.filter(function (f) { return fields[f].workload; })[0];
  by('colour').value = start === undefined ? (several.length ? several[0] : -1) : start;

  // A box for each value of a field, or a list where there are many.
  var allowed = fields.map(function () { return null; });
  several.forEach(function (f) {
    var set = element('fieldset', undefined, by('filters'));
    element('legend', fields[f].name, set);
    allowed[f] = {};
    fields[f].values.forEach(function (value) { allowed[f][value] = true; });
    if (fields[f].values.length <= 12) {
      fields[f].values.forEach(function (value) {
        var l = element('label', undefined, set), box = element('input', undefined, l);
        box.type = 'checkbox'; box.checked = true;
        l.appendChild(document.createTextNode(' ' + value));
        box.addEventListener('change', function () { allowed[f][value] = box.checked; draw(); });
      });
    } else {
      var select = element('select', undefined, set);
      option(select, 'all', '');
      fields[f].values.forEach(function (value, v) { option(select, value, v); });
      select.addEventListener('change', function () {
        fields[f].values.forEach(function (value, v) { allowed[f][value] = select.value === '' || +select.value === v; });
        draw();
      });
    }
  });

  function visible() {
    return points.filter(function (p) {
      return several.every(function (f) { return allowed[f][p.field[f]]; });
    });
  }
  // Points that no other one of theirs is at or below in both axes.
  function frontOf(list, x, y) {
    var sorted = list.slice().sort(function (a, b) { return x.of(a) - x.of(b) || y.of(a) - y.of(b); });
    var least = Infinity, front = [];
    sorted.forEach(function (p) { if (y.of(p) < least) { least = y.of(p); front.push(p); } });
    return front;
  }
  function scale(values, from, to) {
    var low = Math.min.apply(null, values), high = Math.max.apply(null, values);
    if (low === high) { low = low > 0 ? low / 2 : low - 1; high = high > 0 ? high * 1.5 : high + 1; }
    var log = low > 0 && high / low > 12, marks = [], f = log ? Math.log10 : function (v) { return v; };
    var pad = (f(high) - f(low)) * 0.05, a = f(low) - pad, b = f(high) + pad;
    if (log) {
      for (var e = Math.floor(a); e <= b; ++e) [1, 2, 5].forEach(function (m) {
        var v = m * Math.pow(10, e);
        if (f(v) >= a && f(v) <= b && (m === 1 || b - a < 2.2)) marks.push(v);
      });
    } else {
      var rough = (b - a) / 5, power = Math.pow(10, Math.floor(Math.log10(rough))), step = power;
      [2, 5, 10].forEach(function (m) { if (step < rough) step = m * power; });
      for (var v = Math.ceil(a / step) * step; v <= b; v += step) marks.push(+v.toPrecision(12));
    }
    return { at: function (v) { return from + (to - from) * (f(v) - a) / (b - a); }, marks: marks };
  }
  function short(v) {
    var units = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
    for (var i = 0; i < units.length; ++i)
      if (Math.abs(v) >= units[i][0]) return +(v / units[i][0]).toPrecision(4) + units[i][1];
    return String(+v.toPrecision(4));
  }

  var space = 'http://www.w3.org/2000/svg';
  function shape(name, attributes, parent, content) {
    var e = document.createElementNS(space, name);
    Object.keys(attributes).forEach(function (key) { e.setAttribute(key, attributes[key]); });
    if (content !== undefined) e.textContent = content;
    parent.appendChild(e);
    return e;
  }
  function colourOf(p) {
    var f = +by('colour').value;
    return f < 0 ? 0 : fields[f].values.indexOf(p.field[f]) % colours.length;
  }

  function drawPlot(list, x, y, fronts) {
    var svg = by('plot'), wide = svg.clientWidth || 900, high = svg.clientHeight || 430;
    while (svg.firstChild) svg.removeChild(svg.firstChild);
    if (!list.length) { shape('text', { x: 10, y: 30 }, svg, 'No point with a result passes the filters.'); return; }
    var sx = scale(list.map(x.of), 58, wide - 12), sy = scale(list.map(y.of), high - 44, 14), last = -99;
    sy.marks.forEach(function (v) {
      shape('line', { x1: 58, x2: wide - 12, y1: sy.at(v), y2: sy.at(v), 'class': 'grid' }, svg);
      shape('text', { x: 52, y: sy.at(v) + 4, 'text-anchor': 'end' }, svg, short(v));
    });
    sx.marks.forEach(function (v) {
      shape('line', { x1: sx.at(v), x2: sx.at(v), y1: 14, y2: high - 44, 'class': 'grid' }, svg);
      if (sx.at(v) - last < 44) return;
      last = sx.at(v);
      shape('text', { x: last, y: high - 28, 'text-anchor': 'middle' }, svg, short(v));
    });
    shape('text', { x: wide - 12, y: high - 8, 'text-anchor': 'end' }, svg, label(x));
    shape('text', { x: 12, y: high / 2, 'text-anchor': 'middle', transform: 'rotate(-90 12 ' + high / 2 + ')' }, svg, label(y));
    fronts.forEach(function (front) {
      shape('polyline', { points: front.map(function (p) { return sx.at(x.of(p)) + ',' + sy.at(y.of(p)); }).join(' '),
        fill: 'none', stroke: colours[colourOf(front[0])], 'stroke-width': 1.5 }, svg);
    });
    list.forEach(function (p) {
      var colour = colours[colourOf(p)];
      var dot = shape('circle', { cx: sx.at(x.of(p)), cy: sy.at(y.of(p)), r: p === chosen ? 7 : 4.5, stroke: colour,
        fill: p.front ? colour : 'transparent', 'class': p === chosen ? 'chosen' : '' }, svg);
      shape('title', {}, dot, describe(p));
      dot.addEventListener('click', function () { choose(p); });
    });
  }
  function describe(p) {
    return several.map(function (f) { return fields[f].name + '=' + p.field[f]; }).join(' ') + ': ' +
      text(p.value[names.indexOf('milliseconds')]) + ' ms';
  }
  function word(value) { return /^[A-Za-z0-9_.\/,=+:@%-]+$/.test(value) ? value : "'" + value.replace(/'/g, "'\\''") + "'"; }
  function command(p) {
    return fields.reduce(function (so_far, field, f) {
      var set = field.name.indexOf('.') !== -1;
      return so_far + (set ? ' --set ' + field.name + '=' : ' --' + field.name + ' ') + word(p.field[f]);
    }, 'gradweave simulate');
  }
  function choose(p) {
    chosen = p;
    var about = by('about');
    while (about.firstChild) about.removeChild(about.firstChild);
    element('p', 'Point ' + p.number + '. ' + describe(p), about);
    element('code', command(p), element('p', undefined, about));
    draw();
  }

  var order = { of: function (p) { return p.number; }, down: false };
  var heads = [{ name: 'point', number: true, of: function (p) { return p.number; } }];
  several.forEach(function (f) {
    var numbers = fields[f].values.every(function (v) { return v !== '' && isFinite(v); });
    heads.push({ name: fields[f].name, number: numbers, field: true,
      of: function (p) { return numbers ? +p.field[f] : p.field[f]; } });
  });
  columns.forEach(function (column, c) {
    if (column.table) heads.push({ name: column.name, unit: column.unit, help: column.help, number: true,
      of: function (p) { return p.value[c]; } });
  });
  var row = element('tr', undefined, element('thead', undefined, by('table')));
  heads.forEach(function (head) {
    var th = element('th', head.name + (head.unit ? ', ' + head.unit : ''), row);
    if (head.number) th.className = 'number';
    if (head.help) th.title = head.help;
    th.tabIndex = 0;
    var sort = function () {
      order = { of: head.of, down: order.of === head.of && !order.down };
      draw();
    };
    th.addEventListener('click', sort);
    th.addEventListener('keydown', function (event) { if (event.key === 'Enter') sort(); });
  });
  var body = element('tbody', undefined, by('table'));

  function drawTable(list) {
    while (body.firstChild) body.removeChild(body.firstChild);
    var sorted = list.slice().sort(function (a, b) {
      var u = order.of(a), v = order.of(b), d = u < v ? -1 : u > v ? 1 : a.number - b.number;
      return order.down ? -d : d;
    });
    sorted.slice(0, shown).forEach(function (p) {
      var tr = element('tr', undefined, body);
      tr.className = (p.front ? 'front' : '') + (p === chosen ? ' chosen' : '');
      heads.forEach(function (head) {
        var td = element('td', head.number ? text(head.of(p)) : head.of(p), tr);
        if (head.number) td.className = 'number';
      });
      tr.addEventListener('click', function () { choose(p); });
    });
    by('more').hidden = sorted.length <= shown;
    by('more').textContent = 'Show more of ' + sorted.length + ' points';
  }

  function draw() {
    var x = axes[+by('x').value], y = axes[+by('y').value], groups = {}, f = +by('colour').value;
    var list = visible(), fronts = [];
    points.forEach(function (p) { p.front = false; });
    list.forEach(function (p) { var c = f < 0 ? '' : p.field[f]; (groups[c] = groups[c] || []).push(p); });
    Object.keys(groups).forEach(function (name) {
      var front = frontOf(groups[name], x, y);
      front.forEach(function (p) { p.front = true; });
      fronts.push(front);
    });
    var key = by('key');
    while (key.firstChild) key.removeChild(key.firstChild);
    if (f >= 0) fields[f].values.forEach(function (value, v) {
      var span = element('span', undefined, key);
      span.className = 'key';
      element('i', undefined, span).style.background = colours[v % colours.length];
      span.appendChild(document.createTextNode(value));
    });
    drawPlot(list, x, y, fronts);
    drawTable(list);
  }
  ['x', 'y', 'colour'].forEach(function (id) { by(id).addEventListener('change', draw); });
  by('more').addEventListener('click', function () { shown += more; draw(); });
  window.addEventListener('resize', draw);
  draw();
})();
