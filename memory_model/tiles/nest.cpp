#include "memory_model/tiles/nest.hpp"

#include <algorithm>

namespace gradweave::memory_model {

Stream stream_of(const CutTensor &tensor, const Product &product, const LoopOrder &loops, const Cut &cut) {
  const CutTensor::Rows &rows = tensor.rows[cut[tensor.row]];
  const CutTensor::Cols &cols = tensor.cols[cut[tensor.col]];
  Stream s;
  s.is_sum = tensor.is_sum;
  s.tile = rows.tile_rows * cols.panels;
  s.once = cols.once * rows.moved;
  const Dim missing = tensor.missing();
  if (loops[2] == missing) return s; // a tile stays until it is done with
  double tiles = loops[1] == missing ? 1 : tensor.row == loops[1] ? rows.trips : cols.trips;
  tiles *= tensor.row == loops[2] ? rows.trips : cols.trips;
  s.kept = (tiles - 1) * s.tile;
  s.again = cols.again * (rows.moved * (product.trips[missing][cut[missing]] - 1));
  return s;
}

Residence reside(std::vector<Stream> &streams, double lines) {
  Residence r;
  double ahead = 0;
  for (const Stream &s : streams) {
    lines -= s.tile;
    ahead += s.is_sum ? s.tile / 2 : s.tile; // sums stay, what leaves is half as large
    r.moves += s.once;
    r.moves += s.again;
  }
  r.fits = lines >= 0;
  r.ahead = std::clamp(lines / ahead, 0.0, 1.0);
  lines -= ahead;
  std::sort(streams.begin(), streams.end(),
            [](const Stream &a, const Stream &b) { return a.again.bytes() * b.kept > b.again.bytes() * a.kept; });
  for (const Stream &s : streams) {
    if (s.again.bytes() <= 0) continue;
    const double share = s.kept <= 0 ? 1 : std::clamp(lines / s.kept, 0.0, 1.0);
    r.moves += s.again * -share;
    lines -= share * s.kept;
  }
  return r;
}

} // namespace gradweave::memory_model
