'use strict';
// Tables of the class "sortable": their heads, when chosen, sort the rows. Numbers may have commas, units and "-" for none.
(function () {
  function key(cell) {
    var text = cell.textContent.trim(), value = parseFloat(text.replace(/,/g, ''));
    return cell.className === 'number' ? (isNaN(value) ? -Infinity : value) : text;
  }
  Array.prototype.forEach.call(document.querySelectorAll('table.sortable'), function (table) {
    var heads = table.tHead.rows[0].cells, body = table.tBodies[0];
    Array.prototype.forEach.call(heads, function (head, column) {
      function sort() {
        var down = head.getAttribute('aria-sort') === 'descending' || head.className !== 'number' && !head.hasAttribute('aria-sort') ? 1 : -1;
        Array.prototype.forEach.call(heads, function (other) { other.removeAttribute('aria-sort'); });
        head.setAttribute('aria-sort', down === 1 ? 'ascending' : 'descending');
        Array.prototype.slice.call(body.rows).map(function (row, place) {
          return { row: row, place: place, key: key(row.cells[column]) };
        }).sort(function (a, b) {
          return a.key < b.key ? -down : a.key > b.key ? down : a.place - b.place;
        }).forEach(function (one) { body.appendChild(one.row); });
      }
      head.tabIndex = 0;
      head.addEventListener('click', sort);
      head.addEventListener('keydown', function (event) { if (event.key === 'Enter') sort(); });
    });
  });
})();
