#include "compiler/vector_stream/cut/pack_areas.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Packs that a section has at least, so that they overlap, if it has as many areas.
constexpr std::size_t kLeastPacks = 4;

std::size_t bytes_of(const std::vector<AreaTile> &tiles) {
  std::size_t bytes = 0;
  for (const AreaTile &t : tiles)
    bytes += std::size_t{t.rows} * t.cols * (t.fp32 ? 4 : 2);
  return bytes;
}

/// The same elements, lying alike.
bool same_elements(const AreaTile &a, const AreaTile &b) {
  return a.value == b.value && a.first == b.first && a.rows == b.rows && a.cols == b.cols && a.period == b.period &&
         a.phase == b.phase && (a.rows == 1 || a.pitch == b.pitch) && a.spm.pstride == b.spm.pstride &&
         a.spm.rot == b.spm.rot;
}

/// Rows of a tile that is not loaded again, and where it is.
struct Moved {
  std::uint32_t first, end, to;
};

class Packing {
public:
  Packing(std::vector<Area> areas, const NpuConfig &npu) : areas_(std::move(areas)), npu_(npu) {
    std::size_t bytes = 0;
    for (const Area &area : areas_) {
      bytes += bytes_of(area.loaded) + bytes_of(area.stored);
      next_layout_ = std::max(next_layout_, area.layout + 1);
    }
    most_bytes_ = std::min(kPackBytes, bytes / kLeastPacks);
  }

  std::vector<Area> run() {
    for (std::size_t n = 0; n < areas_.size(); ++n) {
      if (!may_be_packed(n)) {
        end_pack();
        packed_.push_back(std::move(areas_[n]));
      } else if (pack_ && can_join(areas_[n])) {
        join(areas_[n]);
      } else {
        end_pack();
        rows_ = rows_of(areas_[n]);
        pack_ = std::move(areas_[n]);
      }
    }
    end_pack();
    return std::move(packed_);
  }

private:
  bool may_be_packed(std::size_t n) const {
    const Area &area = areas_[n];
    const bool alone = (n == 0 || areas_[n - 1].layout != area.layout) &&
                       (n + 1 == areas_.size() || areas_[n + 1].layout != area.layout);
    return alone && !area.runs.empty() &&
           std::all_of(area.runs.begin(), area.runs.end(), [](const AreaRun &run) { return run.state.empty(); });
  }

  void end_pack() {
    if (!pack_) return;
    pack_->layout = next_layout_++;
    packed_.push_back(std::move(*pack_));
    pack_.reset();
  }

  std::uint32_t rows_of(const isa::SpmTile &spm, std::uint32_t cols) const {
    return static_cast<std::uint32_t>(spm.row + spm.pstride * divide_up(cols, npu_.lanes()));
  }

  /// Rows of the scratchpad that an area takes; even.
  std::uint32_t rows_of(const Area &area) const {
    std::uint32_t rows = 0;
    for (const auto *tiles : {&area.loaded, &area.stored})
      for (const AreaTile &t : *tiles)
        rows = std::max(rows, rows_of(t.spm, t.cols));
    for (const AreaRun &run : area.runs)
      for (const isa::VectorTile &t : run.tiles)
        rows = std::max(rows, rows_of(t.spm, t.col + t.cols));
    return rows + rows % 2;
  }

  bool can_join(const Area &area) const {
    const std::size_t bytes = bytes_of(pack_->loaded) + bytes_of(pack_->stored);
    if (bytes + bytes_of(area.loaded) + bytes_of(area.stored) > most_bytes_) return false;
    if (rows_ + rows_of(area) > place_rows(npu_)) return false;
    const auto is_apart = [this](const AreaTile &t) {
      return std::all_of(pack_->stored.begin(), pack_->stored.end(),
                         [&t](const AreaTile &s) { return !overlap(s, t) || same_elements(s, t); });
    };
    return std::all_of(area.loaded.begin(), area.loaded.end(), is_apart) &&
           std::all_of(area.stored.begin(), area.stored.end(), is_apart);
  }

  /// The tile of the pack that has these elements now.
  const AreaTile *found(const AreaTile &t) const {
    for (const auto *tiles : {&pack_->stored, &pack_->loaded})
      for (const AreaTile &other : *tiles)
        if (same_elements(other, t)) return &other;
    return nullptr;
  }

  void join(Area &area) {
    std::vector<Moved> there;
    std::vector<AreaTile> loads;
    for (AreaTile &t : area.loaded) {
      if (const AreaTile *other = found(t)) {
        there.push_back({t.spm.row, rows_of(t.spm, t.cols), other->spm.row});
        continue;
      }
      t.spm.row += rows_;
      loads.push_back(t);
    }
    pack_->loaded.insert(pack_->loaded.end(), loads.begin(), loads.end());
    for (AreaTile &t : area.stored) {
      const auto replaced = std::remove_if(pack_->stored.begin(), pack_->stored.end(),
                                           [&t](const AreaTile &s) { return same_elements(s, t); });
      pack_->stored.erase(replaced, pack_->stored.end());
      t.spm.row += rows_;
      pack_->stored.push_back(t);
    }
    const std::uint32_t begin = rows_;
    rows_ += rows_of(area);
    for (AreaRun &run : area.runs) {
      for (isa::VectorTile &t : run.tiles) {
        const std::uint32_t row = t.spm.row;
        t.spm.row += begin;
        for (const Moved &moved : there)
          if (row >= moved.first && row < moved.end) t.spm.row = moved.to + row - moved.first;
      }
      pack_->runs.push_back(std::move(run));
    }
  }

  std::vector<Area> areas_, packed_;
  const NpuConfig &npu_;
  std::optional<Area> pack_; ///< that is being made
  std::uint32_t rows_ = 0;   ///< of the scratchpad, that it takes
  std::size_t most_bytes_ = 0, next_layout_ = 1;
};

} // namespace

void pack_areas(AreaPlan &plan, const NpuConfig &npu) { plan.areas = Packing(std::move(plan.areas), npu).run(); }

} // namespace gradweave::compiler
