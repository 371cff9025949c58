// What the commands of a stream compute, followed from the tensors' addresses.
#pragma once

#include "compiler/verify/operands/conv_walk.hpp"
#include "compiler/verify/verify.hpp"
#include "compiler/verify/verify_hazards.hpp"
#include "sw_models/config/npu_config.hpp"

#include <map>
#include <optional>

namespace gradweave::compiler {

/// Follows which elements each scratchpad tile holds, from loads through products to stores.
class ContentReplay {
public:
  ContentReplay(const Compiled &compiled, const NpuConfig &npu);

  /// The next command of the stream, after `sync` has stepped to it. Returns what is wrong, or an empty text.
  std::string step(const isa::Decoded &command, const SyncReplay &sync);
  /// Whether every result is complete and every product was needed.
  std::string finish() const;

private:
  /// A rectangle of a tensor: elements as they are in memory, or sums of the reduction's terms from `first` to `done`.
  struct Content {
    std::size_t binding = 0;
    Rect rect; ///< its rows: those of the tile, gaps of a grid included
    std::uint32_t first = 0, done = 0;
    std::uint32_t step = 1; ///< rows of the tensor from row to row
    Lines lines = {};       ///< of a grid, if rows are not simply those of the tensor
    bool sum() const { return done != 0; }
    /// Rows follow one another as in memory.
    bool plain() const { return step == 1 && lines.grid_w == 0; }
    bool same_elements(const Content &o) const {
      return binding == o.binding && rect == o.rect && step == o.step && lines == o.lines;
    }
    /// Row of the tensor that a row of the tile is; nothing in a gap.
    std::optional<std::uint32_t> row(std::uint32_t line) const {
      return lines.grid_w == 0 ? rect.row + line * step : lines.pixel(line);
    }
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
  /// A tile of a tensor in memory, of rows `step` apart.
  struct Stored {
    Rect rect;
    std::uint32_t step = 1;
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
    std::uint32_t step = 1; ///< rows of the tensor from row to row
  };

  /// What a CONV or WGRAD is said to compute (CommandInfo): a claim that every line has to bear out.
  struct Claim {
    Product product;
    const Layer *layer = nullptr;
    bool turned = false;     ///< dX
    std::uint32_t a_col = 0; ///< first columns of A and of WGRAD's B
    std::uint32_t b_col = 0;
    std::uint32_t ky = 0, kx = 0; ///< first tap
    std::uint32_t apart = 1;      ///< taps of the kernel from tap to tap, on both sides
    Lines lines;                  ///< of Y or dX
  };

  /// What a CONV reads of W.
  struct KernelRead {
    Content content;
    std::vector<std::uint32_t> rows; ///< of the tensor, first of each tap
  };

  std::string turn(std::uint32_t layer, Tensor result);
  std::string load(const isa::DmaCommand &d, const SyncReplay &sync);
  std::string load_elements(const Located &at, const SyncReplay &sync) const;
  std::string store(const isa::DmaCommand &d, const SyncReplay &sync);
  std::string check_stored(const Content &content, std::uint32_t skipped, const Located &at) const;
  std::string spill(const isa::DmaCommand &d, const Content &content, const SyncReplay &sync);
  std::string gemm(const isa::GemmCommand &g);
  std::string conv(const isa::ConvCommand &v, const CommandInfo &info);
  std::string claim_conv(const isa::ConvCommand &v, const CommandInfo &info, Claim &claim, Content &c) const;
  std::string claim_wgrad(const isa::ConvCommand &v, const CommandInfo &info, Claim &claim, Content &c) const;
  std::string check_walk(const isa::ConvCommand &v, const Claim &claim) const;
  std::string check_image(const isa::ConvCommand &v, const Claim &claim) const;
  std::string check_gradient(const isa::ConvCommand &v, const Claim &claim) const;
  /// Columns [col, col + cols) of pixels of a tensor, which are rows of it, so many from one to the next.
  struct PixelRun {
    std::size_t binding = 0;
    std::uint32_t pixel = 0, step = 1; ///< the first
    std::uint32_t col = 0, cols = 0;
  };
  /// Whether so many rows of the tile, from `line` on, hold the run's pixels.
  std::string check_lines(const isa::SpmTile &tile, std::int64_t line, std::uint32_t lines, const PixelRun &run) const;
  /// `macs`: multiply-adds of the command that count.
  std::string finish_product(const isa::GemmCommand &g, std::uint64_t macs, const Product &product, Content c);
  std::string cover(const isa::GemmCommand &g, const Product &product, const Rect &a, const Rect &b, Content &c) const;
  std::string continue_sum(const isa::GemmCommand &g, const Tile *cin, Content &c) const;
  std::string add(const isa::AddCommand &c);
  // Of layers that the vector unit computes: what its programs compute is not followed.
  std::string vector_step(const isa::Decoded &command, const CommandInfo &info, const SyncReplay &sync);
  std::string vector_load(const isa::DmaCommand &d, const CommandInfo &info, const SyncReplay &sync);
  std::string vector_store(const isa::DmaCommand &d, const CommandInfo &info, const SyncReplay &sync);
  std::string fused_gemm(const isa::GemmCommand &g, std::uint32_t layer);
  std::string depthwise_wgrad(const isa::ConvCommand &v, std::uint32_t layer);
  bool reads_tiles(const std::vector<SpmView> &views) const;
  std::vector<Located> locate_rows(const isa::DmaCommand &d, std::string &problem) const;
  void give_to_unit(const SpmView &view, std::uint32_t layer);
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
  /// What `view` holds: a tile, or rows of one or of several that follow one another, all of their columns, as elements
  /// without gaps. Nothing if it is none of these.
  std::optional<Content> content_of(const SpmView &view) const;
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
  std::size_t next_ = 0;             ///< index of the next command
  std::vector<std::uint32_t> steps_; ///< rows apart that a LOAD or STORE may move: strides of layers that read images
  std::uint64_t tensors_end_ = 0;
  std::map<std::size_t, std::uint32_t> layer_of_w_;                            ///< by binding
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> layer_of_x_dy_; ///< by bindings
  std::vector<std::uint32_t> owner_; ///< by row: number of the tile last written there; 0: none
  std::map<std::uint32_t, std::pair<std::uint32_t, Tile>> tiles_; ///< by first row: number and tile
  std::uint32_t next_number_ = 1;
  std::vector<std::uint32_t> unit_rows_; ///< by row: 1 + the layer whose vector command wrote it last; 0: none
  std::vector<vector::UnitState> units_;
  /// What tile_at() found last, until the next put() or give_to_unit(): most lines are of the tile that the line before
  /// is of.
  mutable std::uint32_t found_number_ = ~std::uint32_t{0};
  mutable const Tile *found_ = nullptr;
  std::map<std::uint64_t, Spilled> spilled_;                  ///< by address
  std::vector<std::vector<Stored>> stored_;                   ///< by binding
  std::vector<std::array<std::uint64_t, kTensorCount>> macs_; ///< by layer
  std::vector<bool> turned_;                                  ///< by job: whether its backward pass has begun
};

} // namespace gradweave::compiler
