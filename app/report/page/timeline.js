'use strict';
// Draws the sketches of a run's layers (timeline.cpp), one behind another, on a canvas that zooms.
(function () {
  var by = function (id) { return document.getElementById(id); };
  var data = JSON.parse(by('timeline-data').textContent), canvas = by('timeline-canvas');
  var colours = { X: '#56b4e9', W: '#0072b2', dY: '#e69f00', Y: '#8a6d3b', dX: '#d55e00', dW: '#009e73', '': '#8c8c8c' };
  var ROW = 26, LEFT = 84, TOP = 44, FULL = 90, HIGH;

  // Bars with cycles of the whole run, by engine; steps of the scratchpad.
  var names = [], rows = {}, layers = [], steps = [], total = 0, most = Math.max(1, data.spm_rows), used = {};
  data.layers.forEach(function (layer) {
    var cycles = layer[1], interval = layer[3];
    layers.push({ name: layer[0], begin: total, end: total + cycles });
    layer[2].forEach(function (row) {
      var engine = row[0], tensors = row[1], bars = row[2];
      if (!rows[engine]) { rows[engine] = []; names.push(engine); }
      for (var i = 0, at = total; i < bars.length; i += 4) {
        var begin = at + bars[i], tensor = tensors[bars[i + 2]];
        at = begin + bars[i + 1];
        used[tensor] = true;
        rows[engine].push({ begin: begin, end: at, tensor: tensor, commands: bars[i + 3], layer: layers.length - 1 });
      }
    });
    layer[4].forEach(function (value, i) {
      steps.push({ begin: total + i * interval, end: total + Math.min(cycles, (i + 1) * interval), value: value });
    });
    total += cycles;
  });
  names.sort(function (a, b) { return place(a) - place(b) || (a < b ? -1 : 1); });
  function place(name) { return name === 'load' ? 0 : name === 'store' ? 2 : 1; }
  HIGH = TOP + names.length * ROW + 16 + FULL + 12;
  canvas.style.height = HIGH + 'px';

  Object.keys(colours).forEach(function (tensor) {
    if (!used[tensor]) return;
    var span = document.createElement('span'), box = document.createElement('i');
    span.className = 'key';
    box.style.background = colours[tensor];
    span.appendChild(box);
    span.appendChild(document.createTextNode(tensor || 'other'));
    by('key').appendChild(span);
  });

  var from = 0, to = Math.max(1, total), context = canvas.getContext('2d'), asked = false;
  function wide() { return canvas.clientWidth; }
  function x(cycle) { return LEFT + (wide() - LEFT - 8) * (cycle - from) / (to - from); }
  function cycle(at) { return from + (to - from) * (at - LEFT) / (wide() - LEFT - 8); }
  function show(a, b) {
    var length = Math.min(Math.max(b - a, 20), Math.max(total, 1));
    a = Math.max(0, Math.min(a, total - length));
    from = a;
    to = a + length;
    by('range').textContent = 'cycles ' + count(from) + ' to ' + count(to) + ' of ' + count(total) + ', ' +
      ((to - from) / data.clock_ghz / 1000).toPrecision(4) + ' us';
    if (!asked) { asked = true; window.requestAnimationFrame(draw); }
  }
  function zoom(factor, around) { show(around - (around - from) * factor, around + (to - around) * factor); }
  function move(part) { show(from + (to - from) * part, to + (to - from) * part); }

  // The first of sorted bars that ends behind a cycle.
  function first(bars, at) {
    var low = 0, high = bars.length;
    while (low < high) {
      var middle = (low + high) >> 1;
      if (bars[middle].end > at) high = middle; else low = middle + 1;
    }
    return low;
  }
  function count(value) { return Math.round(value).toLocaleString('en-US'); }

  function draw() {
    asked = false;
    var ratio = window.devicePixelRatio || 1, style = getComputedStyle(document.body), ink = style.color;
    var line = getComputedStyle(document.documentElement).getPropertyValue('--line').trim() || '#ddd';
    canvas.width = Math.round(wide() * ratio);
    canvas.height = Math.round(HIGH * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide(), HIGH);
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    axis(ink, line);
    names.forEach(function (name, r) {
      var bars = rows[name], y = TOP + r * ROW;
      context.fillStyle = ink;
      context.fillText(name.replace('compute', 'array'), 6, y + ROW / 2 - 2);
      for (var i = first(bars, from); i < bars.length && bars[i].begin < to; ++i) {
        var a = Math.max(LEFT, x(bars[i].begin)), b = Math.min(wide() - 8, x(bars[i].end));
        context.fillStyle = colours[bars[i].tensor] || colours[''];
        // Bars of several commands that would hide each other stay thin, so that what is between them shows.
        context.fillRect(a, y, Math.max(b - a > 3 ? b - a - 0.5 : b - a, 0.3), ROW - 6);
      }
    });
    occupancy(ink, line);
  }
  function axis(ink, line) {
    var rough = (to - from) / Math.max(2, wide() / 130), power = Math.pow(10, Math.floor(Math.log10(rough))), step = 10 * power;
    [5, 2, 1].forEach(function (m) { if (m * power >= rough) step = m * power; });
    context.strokeStyle = line;
    for (var at = Math.ceil(from / step) * step; at <= to; at += step) {
      context.beginPath();
      context.moveTo(x(at), 14);
      context.lineTo(x(at), HIGH - 12);
      context.stroke();
      context.fillStyle = ink;
      context.textAlign = x(at) > wide() - 50 ? 'right' : 'center';
      context.fillText(count(at), x(at), 8);
    }
    context.textAlign = 'left';
    layers.forEach(function (layer, l) {
      if (layer.end <= from || layer.begin >= to) return;
      var a = Math.max(LEFT, x(layer.begin)), b = Math.min(wide() - 8, x(layer.end));
      context.fillStyle = l % 2 ? 'rgba(128,128,128,.30)' : 'rgba(128,128,128,.18)';
      context.fillRect(a, 20, Math.max(b - a, 0.5), 18);
      if (b - a < 24) return;
      context.save();
      context.beginPath();
      context.rect(a, 20, b - a - 2, 18);
      context.clip();
      context.fillStyle = ink;
      context.fillText(layer.name, a + 4, 29);
      context.restore();
    });
  }
  function occupancy(ink, line) {
    var foot = HIGH - 12, y = function (value) { return foot - FULL * value / most; };
    context.fillStyle = ink;
    context.fillText('scratchpad', 6, foot - FULL / 2);
    context.fillText('100 %', LEFT - 40, foot - FULL + 6);
    context.strokeStyle = line;
    context.strokeRect(LEFT, foot - FULL, wide() - LEFT - 8, FULL);
    context.fillStyle = 'rgba(66,146,198,.55)';
    var last = -1, top = 0; // the highest value of a pixel stands for it
    for (var i = first(steps, from); i < steps.length && steps[i].begin < to; ++i) {
      var a = Math.max(LEFT, x(steps[i].begin)), b = Math.min(wide() - 8, x(steps[i].end));
      var pixel = Math.floor(a);
      if (b - a >= 1) { context.fillRect(a, y(steps[i].value), b - a, foot - y(steps[i].value)); continue; }
      if (pixel !== last) { if (last >= 0) context.fillRect(last, y(top), 1, foot - y(top)); last = pixel; top = 0; }
      top = Math.max(top, steps[i].value);
    }
    if (last >= 0) context.fillRect(last, y(top), 1, foot - y(top));
  }

  function describe(event) {
    var box = canvas.getBoundingClientRect(), at = cycle(event.clientX - box.left), y = event.clientY - box.top;
    var r = Math.floor((y - TOP) / ROW), text = '';
    if (at < from || at > to) text = '';
    else if (r >= 0 && r < names.length) {
      var bars = rows[names[r]], bar = bars[first(bars, at)];
      if (bar && bar.begin <= at)
        text = names[r].replace('compute', 'array') + ' ' + bar.tensor + ', layer ' + layers[bar.layer].name + ': ' +
          (bar.commands === 1 ? 'a command' : count(bar.commands) + ' commands') + ', cycles ' + count(bar.begin) + ' to ' + count(bar.end);
    } else if (y > HIGH - 12 - FULL) {
      var step = steps[first(steps, at)];
      if (step) text = 'scratchpad: ' + count(step.value) + ' of ' + count(most) + ' rows, ' + Math.round(100 * step.value / most) + ' %';
    } else {
      var layer = layers[first(layers, at)];
      if (layer) text = 'layer ' + layer.name + ': cycles ' + count(layer.begin) + ' to ' + count(layer.end);
    }
    by('about').textContent = text;
  }

  canvas.addEventListener('wheel', function (event) {
    event.preventDefault();
    var around = Math.min(to, Math.max(from, cycle(event.clientX - canvas.getBoundingClientRect().left)));
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / wide());
    else zoom(Math.pow(1.0018, event.deltaY), around);
  }, { passive: false });
  var fingers = {};
  canvas.addEventListener('pointerdown', function (event) {
    fingers[event.pointerId] = event.clientX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', function (event) {
    if (!(event.pointerId in fingers)) { describe(event); return; }
    var before = fingers[event.pointerId], others = Object.keys(fingers).filter(function (id) { return +id !== event.pointerId; });
    if (others.length) {
      var other = fingers[others[0]], box = canvas.getBoundingClientRect().left;
      if (Math.abs(event.clientX - other) > 5) zoom(Math.abs(before - other) / Math.abs(event.clientX - other), cycle(other - box));
    } else {
      var shift = (before - event.clientX) / (wide() - LEFT - 8) * (to - from);
      show(from + shift, to + shift);
    }
    fingers[event.pointerId] = event.clientX;
  });
  ['pointerup', 'pointercancel'].forEach(function (name) {
    canvas.addEventListener(name, function (event) { delete fingers[event.pointerId]; });
  });
  canvas.addEventListener('keydown', function (event) {
    var middle = (from + to) / 2;
    if (event.key === '+' || event.key === '=') zoom(0.6, middle);
    else if (event.key === '-') zoom(1 / 0.6, middle);
    else if (event.key === 'ArrowLeft') move(-0.2);
    else if (event.key === 'ArrowRight') move(0.2);
    else if (event.key === '0' || event.key === 'Home') show(0, total);
    else return;
    event.preventDefault();
  });
  by('zoom-in').addEventListener('click', function () { zoom(0.6, (from + to) / 2); });
  by('zoom-out').addEventListener('click', function () { zoom(1 / 0.6, (from + to) / 2); });
  by('zoom-all').addEventListener('click', function () { show(0, total); });
  window.addEventListener('resize', function () { show(from, to); });
  if (window.matchMedia) window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  show(0, total);
  draw();
})();
