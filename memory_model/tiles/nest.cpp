#include "memory_model/tiles/nest.hpp"

#include <algorithm>

namespace gradweave::memory_model {

void add_streams(std::vector<Stream> &streams, const CutTensor &tensor, const Product &product, const LoopOrder &loops,
                 const Cut &cut) {
  const CutTensor::Rows &rows = tensor.rows[cut[tensor.row]];
  const CutTensor::Cols &cols = tensor.cols[cut[tensor.col]];
  const double row_trips = cols.all > 0 ? 1 : rows.trips;
  const auto trips = [&](Dim dim) { return tensor.row == dim ? row_trips : cols.trips; };
  const Dim missing = tensor.missing();
  Stream s;
  s.is_sum = tensor.is_sum;
  s.tile = (cols.all > 0 ? cols.all : rows.tile_rows) * cols.panels;
  s.once = cols.once * rows.moved;
  double walks = 1;          // of all tiles
  if (loops[2] != missing) { // else a tile stays until it is done with
    walks = product.trips[missing][cut[missing]];
    const double tiles = (loops[1] == missing ? 1 : trips(loops[1])) * trips(loops[2]);
    s.kept = (tiles - 1) * s.tile;
    s.again = cols.again * (rows.moved * (walks - 1));
  }
  streams.push_back(s);
  if (tensor.taps == 1) return;
  const bool rows_within =
      std::find(loops.begin(), loops.end(), tensor.row) > std::find(loops.begin(), loops.end(), tensor.col);
  Stream taps;
  taps.kept = (cols.trips * (rows_within ? row_trips : 1) - 1) * s.tile;
  taps.again = cols.again * (rows.moved * (tensor.taps - 1) * walks);
  streams.push_back(taps);
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
