// What the commands of a stream compute, followed from the tensors' addresses.
#pragma once

#include "compiler/verify/verify.hpp"
#include "compiler/verify/verify_hazards.hpp"
#include "sw_models/config/npu_config.hpp"

#include <map>

namespace gradweave::compiler {

/// Follows which elements each scratchpad tile holds, from loads through products to stores.
class ContentReplay {
public:
  ContentReplay(const Compiled &compiled, const NpuConfig &npu);

  /// Next command, after `sync` has stepped to it. Returns what is wrong, or an empty text.
  std::string step(const isa::Decoded &command, const SyncReplay &sync);
  /// Whether every result is complete and every product was needed.
  std::string finish() const;

private:
  /// A rectangle of a tensor: elements as they are in memory, or sums of the reduction's terms from `first` to `done`.
  struct Content {
    std::size_t binding = 0;
    Rect rect;
    std::uint32_t first = 0, done = 0;
    bool sum() const { return done != 0; }
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
  /// A tile of a tensor in memory.
  struct Stored {
    Rect rect;
    std::size_t engine = 0;
    std::uint32_t position = 0; ///< of the STORE
  };
  /// Which product of which layer a GEMM computes.
  struct Product {
    std::uint32_t layer = 0;
    Tensor result{};
  };
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  struct Located {
    std::size_t binding = kNowhere;
    Rect rect;
  };

  /// What a CONV or WGRAD reads as its image.
  struct ImageRead {
    std::size_t binding = kNowhere;
    std::int64_t first_pixel = 0; ///< row of the tensor that is the first pixel of the image in which it begins
    std::uint32_t col = 0;        ///< first column of the tensor
  };

  /// What a CONV reads of W.
  struct KernelRead {
    Content content;
    std::uint32_t row = 0;   ///< of the tensor, of the first tap
    std::uint32_t apart = 0; ///< rows from tap to tap
  };

  std::string load(const isa::DmaCommand &d, const SyncReplay &sync);
  std::string load_elements(const Located &at, const SyncReplay &sync) const;
  std::string store(const isa::DmaCommand &d, const SyncReplay &sync);
  std::string spill(const isa::DmaCommand &d, const Content &content, const SyncReplay &sync);
  std::string gemm(const isa::GemmCommand &g);
  std::string conv(const isa::ConvCommand &v);
  std::string cover_conv(const isa::ConvCommand &v, const ImageRead &a, const KernelRead &b, const Product &product,
                         Content &c) const;
  std::string cover_wgrad(const isa::ConvCommand &v, const ImageRead &a, const Content &b, std::uint32_t skipped,
                          const Product &product, Content &c) const;
  std::string finish_product(const isa::GemmCommand &g, std::uint32_t terms, const Product &product, Content c);
  std::string cover(const isa::GemmCommand &g, const Product &product, const Rect &a, const Rect &b, Content &c) const;
  std::string continue_sum(const isa::GemmCommand &g, const Tile *cin, Content &c) const;
  std::string add(const isa::AddCommand &c);
  /// Finds the product by its operands; `problem` says why if there is none.
  Product product_of(const isa::GemmCommand &g, const Content &a, const Content &b, std::string &problem) const;
  /// The tensor that a transfer addresses; `problem` says why if it is none.
  Located locate(const isa::DmaCommand &d, std::string &problem) const;
  /// The tile that lies exactly in `view`, whole; null if there is none.
  const Tile *find(const SpmView &view) const;
  /// Whether all rows are of the tile with this number.
  bool holds(const SpmView &view, std::uint32_t number) const;
  /// The tile that the row is a part of; null if there is none.
  const Tile *tile_at(std::int64_t row) const;
  /// The tile of which `view` has some rows, all of their columns, and the number of its rows before those; null if
  /// there is none.
  const Tile *find_rows(const SpmView &view, std::uint32_t &skipped) const;
  ImageRead read_image(const isa::ConvCommand &v, std::string &problem) const;
  KernelRead read_kernel(const isa::ConvCommand &v, std::string &problem) const;
  void put(const SpmView &view, const Content &content);

  const TensorBinding &binding(std::size_t i) const { return compiled_.layout.tensors[i]; }
  std::string name(std::size_t binding, const Rect &r) const;
  std::string name(const Content &c) const { return name(c.binding, c.rect); }
  const std::vector<std::uint32_t> &cuts(const Content &sum) const {
    return compiled_.reductions[binding(sum.binding).layer].of(binding(sum.binding).tensor);
  }
  /// Length of the whole reduction of a sum.
  std::uint32_t extent(const Content &sum) const;

  const Compiled &compiled_;
  const NpuConfig &npu_;
  std::uint64_t tensors_end_ = 0;
  std::map<std::size_t, std::uint32_t> layer_of_w_;                            ///< by binding
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> layer_of_x_dy_; ///< by bindings
  std::vector<std::uint32_t> owner_; ///< by row: number of the tile last written there; 0: none
  std::map<std::uint32_t, std::pair<std::uint32_t, Tile>> tiles_; ///< by first row: number and tile
  std::uint32_t next_number_ = 1;
  std::map<std::uint64_t, Spilled> spilled_;                  ///< by address
  std::vector<std::vector<Stored>> stored_;                   ///< by binding
  std::vector<std::array<std::uint64_t, kTensorCount>> macs_; ///< by layer
};

} // namespace gradweave::compiler
