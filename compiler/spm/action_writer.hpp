// The actions of a program: LOADs, STOREs, GEMMs and ADDs with their places and addresses.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/ir/vector_section.hpp"
#include "compiler/spm/stored_rows.hpp"
#include "compiler/spm/tile_table.hpp"
#include "sw_models/config/npu_config.hpp"

namespace gradweave::compiler {

/// DRAM address of the first element of a tile of a tensor.
inline std::uint64_t element_address(const TensorBinding &binding, const Rect &tile) {
  return binding.offset + static_cast<std::uint64_t>(tile.row) * binding.pitch +
         tile.col * (binding.fp32 ? 4ULL : 2ULL);
}

/// Appends actions to a program, which belong to its products by index: to the first until next_product().
class ActionWriter {
public:
  /// Gives the program, which is empty, the tiles' forms. The references must outlive the object.
  ActionWriter(Program &program, const std::vector<Tile> &tiles, const TileForms &forms, const Layout &layout,
               const NpuConfig &npu)
      : program_(program), tiles_(tiles), layout_(layout), npu_(npu) {
    program_.forms = forms;
  }

  /// A LOAD or STORE between the scratchpad rows from `row` on and the tile's tensor, or its spill space, which it is
  /// given if it has none.
  void move(Action::Kind kind, Tile &t, std::int64_t row, bool spill);
  /// A STORE of a part of a tile of elements.
  void store_part(const Tile &t, const TilePart &part);
  /// The GEMM or ADD of a product whose tiles all have places.
  /// `parts`: what it takes of them; null: all.
  void compute(const TileProduct &product, const Needs &needs, const std::array<TilePart, 4> *parts = nullptr);
  /// A piece of the vector unit's, behind gates if it is the first or loads what was not there before, and with what
  /// its stores end.
  void vector(const TileProduct &product);

  /// What follows belongs to the next product.
  void next_product() { ++product_; }

  /// Before the first action, once the program has its sections.
  void follow_sections();

private:
  void follow_move(const Rect &rect, Action &action);
  void gate(const SectionOperand &of, const VectorPiece &piece, bool begins);
  Action action_of(Action::Kind kind, const SectionOperand &of) const;
  Spot spot_of(const Tile &t, const TilePart &part);

  Program &program_;
  const std::vector<Tile> &tiles_;
  const Layout &layout_;
  const NpuConfig &npu_;
  std::uint32_t product_ = 0; ///< at hand
  StoredRows stored_rows_;    ///< of what sections read and store
};

} // namespace gradweave::compiler
