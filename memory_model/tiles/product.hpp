// A layer's products as loops over tiles, and the tensors that these walk over.
#pragma once

#include "memory_model/tiles/sides.hpp"

#include <array>
#include <vector>

namespace gradweave::memory_model {

/// What moves of the DRAM and of the ports of LOADs and STOREs take.
struct Moves {
  double read_bytes = 0, written_bytes = 0; ///< of whole DRAM accesses
  double load_cycles = 0, store_cycles = 0; ///< of the ports: a beat each, and the wait for answers to bursts

  double bytes() const { return read_bytes + written_bytes; }
  Moves &operator+=(const Moves &other) {
    read_bytes += other.read_bytes;
    written_bytes += other.written_bytes;
    load_cycles += other.load_cycles;
    store_cycles += other.store_cycles;
    return *this;
  }
  Moves operator*(double times) const {
    return {read_bytes * times, written_bytes * times, load_cycles * times, store_cycles * times};
  }
};

/// A tensor of a product, cut by each of the sides along its two dimensions; of all groups but for `tile_rows` and
/// `panels`.
struct CutTensor {
  /// Along its rows.
  struct Rows {
    double moved = 0;     ///< rows that are moved to walk over all once
    double tile_rows = 0; ///< lines of the scratchpad that a panel of a tile takes
    double trips = 0;     ///< tiles
  };
  /// Along its columns.
  struct Cols {
    Moves once;        ///< of a row, for each that is moved: read if it is an operand, else written as it leaves
    Moves again;       ///< to put a sum's row aside and to fetch it, or to read an operand's once more
    double panels = 0; ///< lines of the scratchpad for each of a tile's rows
    double trips = 0;  ///< tiles
    double all = 0;    ///< rows of a tile that has all that there are, however they are cut; 0: it has the cut's
  };
  Dim row = kM, col = kN;
  bool is_sum = false;    ///< fp32 while it is added up
  std::uint32_t taps = 1; ///< an image that is walked over for each of so many taps, one after the other
  std::vector<Rows> rows;
  std::vector<Cols> cols;

  Dim missing() const { return static_cast<Dim>(kDims - row - col); }
};

enum class Result : std::uint8_t { kY, kDX, kDW };

struct Product {
  Result result = Result::kY;
  CutTensor shared; ///< X of Y; dY of dX and dW, which a pass back has in common
  CutTensor other;
  CutTensor sum;
  std::array<std::vector<double>, kDims> trips; ///< of its loops in a group, by side
  /// Factors of the array's steps along each dimension: blocks of rows or columns, or of each trip the terms of its
  /// reduction, as many as the shortest block has at least; all groups and taps in that of M.
  std::array<std::vector<double>, kDims> steps;
};

/// Of a layer, cut by any of the sides.
Product product_of(const compiler::Layer &layer, Result result, const Sides &sides, const gradweave::Machine &npu);

/// Steps of the array for a block at least: it has to be filled, and its results drained.
double shortest_block(const NpuConfig &npu);
/// What the DRAM charges at a time.
std::uint32_t access_bytes(const gradweave::Machine &npu);

} // namespace gradweave::memory_model
