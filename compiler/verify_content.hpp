// What the commands of a stream compute, followed from the tensors' addresses.
#pragma once

#include "compiler/compiler.hpp"
#include "compiler/tiling.hpp"
#include "compiler/verify_hazards.hpp"

#include <map>

namespace gradweave::compiler {

/// Follows which elements each scratchpad tile holds, from loads through products to stores.
class ContentReplay {
public:
  ContentReplay(const CompiledLayer &compiled, const NpuConfig &npu);

  /// Next command, after `sync` has stepped to it. Returns what is wrong, or an empty text.
  std::string step(const isa::Decoded &command, const SyncReplay &sync);
  /// Whether every result is complete and every product was needed.
  std::string finish() const;

private:
  /// A rectangle of a tensor: elements, or sums of the reduction's terms from `first` to `done`.
  struct Content {
    Tensor tensor = Tensor::kX;
    Rect rect;
    std::uint32_t first = 0, done = 0;
  };
  struct Tile {
    SpmView view;
    Content content;
  };
  /// Partial sums in spill space.
  struct Spilled {
    std::uint64_t end = 0;
    std::uint32_t pitch = 0;
    Content content;
    std::size_t engine = 0;
    std::uint32_t position = 0; ///< of the STORE
    std::size_t reader_engine = 0;
    std::uint32_t reader_position = 0; ///< of the last LOAD; 0: none
  };
  struct Located {
    const TensorBinding *binding = nullptr;
    Rect rect;
  };

  std::string load(const isa::DmaCommand &d, const SyncReplay &sync);
  std::string store(const isa::DmaCommand &d, const SyncReplay &sync);
  std::string spill(const isa::DmaCommand &d, const Content &content, const SyncReplay &sync);
  std::string gemm(const isa::GemmCommand &g);
  std::string add(const isa::AddCommand &c);
  /// Whether a sum of its own begins at this term.
  bool begins_part(Tensor result, std::uint32_t term) const;
  /// The tensor that a transfer addresses; `problem` says why if it is none.
  Located locate(const isa::DmaCommand &d, std::string &problem) const;
  /// The tile that lies exactly in `view`, whole; null if there is none.
  const Tile *find(const SpmView &view) const;
  void put(const SpmView &view, const Content &content);
  std::uint32_t extent(Tensor result) const;

  const CompiledLayer &compiled_;
  const NpuConfig &npu_;
  std::uint64_t tensors_end_ = 0;
  std::vector<std::uint32_t> owner_; ///< by row: number of the tile last written there; 0: none
  std::map<std::uint32_t, std::pair<std::uint32_t, Tile>> tiles_; ///< by first row: number and tile
  std::uint32_t next_number_ = 1;
  std::map<std::uint64_t, Spilled> spilled_; ///< by address
  std::array<std::vector<Rect>, kTensorCount> stored_;
  std::array<std::uint64_t, kTensorCount> macs_{};
};

} // namespace gradweave::compiler
