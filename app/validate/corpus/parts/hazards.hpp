// Which earlier commands a command has to wait for, by the ordering rules of docs/microarchitecture.md.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"
#include "sw_models/vector/unit_state.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::corpus {

/// Places of engines (isa::engine_place()); core c: kComputeEngine + c, vector units behind the cores.
inline constexpr std::size_t kLoadEngine = 0, kStoreEngine = 1, kComputeEngine = 2;
inline constexpr std::size_t kMaxEngines = kComputeEngine + 2 * 8;
inline constexpr std::int64_t kNone = -1;

/// Index of the latest command of each engine that must have completed first, or kNone.
using Needs = std::array<std::int64_t, kMaxEngines>;

constexpr Needs no_needs() {
  Needs needs{};
  for (std::size_t e = 0; e < kMaxEngines; ++e)
    needs[e] = kNone;
  return needs;
}

/// Follows accesses to scratchpad rows and DRAM elements in memory order. Rows are the grain: two accesses to different
/// lanes of a row count as a conflict, which is stricter than the hardware and keeps neighbours of a partial tile safe.
class HazardTracker {
public:
  /// DRAM accesses must lie within [dram_base, dram_base + dram_bytes).
  HazardTracker(const NpuConfig &config, std::uint64_t dram_base, std::uint64_t dram_bytes);

  /// Adds the next command (index 0, 1, ...). Within an engine only reads of a GEMM's results by a later GEMM need
  /// a wait, and not if they are initial values from at least three blocks before, nor if an ADD of the core lies
  /// between: it starts when all results before it are written, and nothing starts before it is done. A vector unit's
  /// commands never need one for its own.
  Needs add(const isa::Decoded &command);

private:
  struct Row {
    std::int64_t writer = kNone;
    std::size_t writer_engine = 0;
    std::int64_t block = kNone; ///< last block of a GEMM that wrote the row
    Needs readers = no_needs(); ///< since the last write
  };
  struct Core {
    std::int64_t blocks = 0;       ///< of all GEMMs until now
    std::int64_t last_add = kNone; ///< index of its last ADD
  };
  struct Extent {
    isa::SpmTile tile;
    std::uint32_t row0, rows, col0, cols; ///< part of the tile
    bool fp32;
  };

  template <typename F> void for_rows(const Extent &e, F f);
  void read_row(Row &row, bool initial_value, std::int64_t block);
  void write_row(Row &row, std::int64_t block);
  void add_dma(const isa::DmaCommand &d);
  void add_gemm(const isa::GemmCommand &g);
  void add_conv(const isa::ConvCommand &v);
  /// Initial values and results of a product.
  void add_results(const isa::GemmCommand &g);
  void add_add(const isa::AddCommand &a);
  void add_vector(const isa::VectorCommand &v);
  bool in_order(const Row &row) const;
  template <typename F> void for_blocks(const isa::GemmCommand &g, const isa::SpmTile &t, bool fp32, F f);
  void need(std::size_t engine, std::int64_t index);

  std::uint32_t lanes_, block_rows_, block_cols_;
  std::uint64_t dram_base_;
  std::vector<Row> rows_;
  std::vector<std::int64_t> last_store_, last_load_; ///< per two bytes of DRAM
  std::vector<Core> cores_;
  std::vector<vector::UnitState> units_;
  std::int64_t index_ = kNone;
  std::size_t engine_ = 0;
  Needs needs_{};
};

} // namespace gradweave::corpus
