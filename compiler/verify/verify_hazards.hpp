// Scratchpad hazards of a command stream, row by row.
#pragma once

#include "compiler/verify/verify_sync.hpp"
#include "sw_models/config/npu_config.hpp"
#include "sw_models/vector/unit_state.hpp"

#include <optional>
#include <unordered_map>

namespace gradweave::compiler {

/// A tile in the scratchpad as a command names it.
struct SpmView {
  isa::SpmTile place;
  std::uint32_t rows = 0, cols = 0;
  bool fp32 = false;

  std::uint32_t panel_rows() const { return rows * (fp32 ? 2U : 1U); }
  bool same_place(const SpmView &o) const {
    return place.row == o.place.row && place.pstride == o.place.pstride && place.rot == o.place.rot && rows == o.rows &&
           cols == o.cols && fp32 == o.fp32;
  }
  /// Calls f with the first and one past the last scratchpad row of every panel.
  template <typename F> void for_panels(std::uint32_t lanes, F f) const {
    for (std::uint32_t panel = 0; panel * lanes < cols; ++panel)
      f(place.row + panel * place.pstride, place.row + panel * place.pstride + panel_rows());
  }
  /// Calls f with every scratchpad row of the tile.
  template <typename F> void for_rows(std::uint32_t lanes, F f) const {
    for_panels(lanes, [&](std::uint32_t first, std::uint32_t end) {
      for (std::uint32_t row = first; row < end; ++row)
        f(row);
    });
  }
};

/// The tiles that a GEMM reads and writes.
struct GemmViews {
  SpmView a, b, cin, cout;
  explicit GemmViews(const isa::GemmCommand &g);
};
/// The rows of A that a CONV or WGRAD reads and does not mask: runs of rows, ascending; none if it reads padding only.
std::vector<SpmView> image_views(const isa::ConvCommand &v);

/// The tiles that an ADD reads and writes.
struct AddViews {
  SpmView a, cin, cout;
  explicit AddViews(const isa::AddCommand &c);
};
SpmView view_of(const isa::DmaCommand &d);
/// The columns before a window, in its first panel, count too: they lie in the same rows.
SpmView view_of(const vector::TileUse &use);

/// Checks each command's scratchpad accesses against those of all earlier ones.
class HazardReplay {
public:
  explicit HazardReplay(const NpuConfig &npu);

  /// A section begins with this command. `whole`: it reads no row that it has not written but as an operand of
  /// products, which mask what lies beyond an image.
  void begin_section(std::size_t index, bool whole) {
    section_.reset();
    if (whole) section_ = static_cast<std::uint32_t>(index);
  }
  /// The command that `sync` has just stepped to. Returns the first hazard, or an empty text.
  std::string step(std::size_t index, const isa::Decoded &command, const SyncReplay &sync);

private:
  /// Of a command: no command.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Where a command runs: its engine, and its position in it.
  struct Place {
    std::uint32_t engine = 0, position = 0;
  };
  struct Blocks {
    std::uint64_t first = 0, count = 0;
    SpmView cout;
  };
  enum class Use { kOperand, kInitial, kSum, kDma, kVector };
  /// What a product reads, and what a message calls it.
  struct Operand {
    SpmView view;
    const char *what;
    Use use = Use::kOperand;
  };

  std::string gemm(const isa::GemmCommand &g, const SyncReplay &sync);
  std::string conv(const isa::ConvCommand &v, const SyncReplay &sync);
  std::string product(const isa::GemmCommand &g, std::vector<Operand> operands, const SyncReplay &sync);
  void forget_products();
  std::string refuse_overlap(const SpmView &operand, const char *what, const SpmView &result) const;
  std::string add(const isa::AddCommand &c, const SyncReplay &sync);
  std::string vector(const isa::VectorCommand &v, const SyncReplay &sync);
  std::string read(const SpmView &view, Use use, const SyncReplay &sync);
  std::string write(const SpmView &view, const SyncReplay &sync);
  /// Whether what an earlier command of that engine did to rows that are overwritten may still go on.
  bool races(std::uint32_t earlier, std::size_t engine, const SyncReplay &sync) const;
  std::string overwrite_problem(const SpmView &view, const SyncReplay &sync) const;
  bool ordered_inside_core(std::uint32_t writer, const SpmView &view, Use use, std::size_t engine) const;

  const NpuConfig &npu_;
  std::uint32_t index_ = 0;
  std::optional<std::uint32_t> section_;             ///< where one begins that reads what it has written
  std::vector<Place> places_;                        ///< by command
  std::vector<std::uint32_t> writers_;               ///< by row: the last command that wrote it
  std::vector<std::vector<std::uint32_t>> readers_;  ///< by engine and row: the last since the row's last write
  std::unordered_map<std::uint32_t, Blocks> blocks_; ///< by command: of products whose results are there, and others
  std::vector<std::uint64_t> next_block_;            ///< by engine
  std::vector<std::uint32_t> last_add_;              ///< by engine: position of its last ADD
  std::vector<gradweave::vector::UnitState> units_;
};

} // namespace gradweave::compiler
