#include "train/npu/plan/order/reads_first.hpp"

#include "compiler/verify/verify_sync.hpp"

#include <algorithm>
#include <optional>
#include <variant>

namespace gradweave::runtime::train {
namespace {

constexpr std::uint32_t kWritten = ~std::uint32_t{0};

/// Bytes of the memory, laid out in lines of the same pitch.
struct Rect {
  std::uint64_t line, end_line, byte, end_byte;
};

/// The part between `begin` and `end` of what DMAs move, as rectangles of lines that are as far apart as their rows.
class Lines {
public:
  Lines(const std::vector<isa::DmaCommand> &moves, std::uint64_t begin, std::uint64_t end)
      : begin_(begin), end_(end), pitch_(end - begin) {
    for (const isa::DmaCommand &move : moves)
      if (move.rows > 1 && move.pitch >= row_bytes(move)) {
        pitch_ = move.pitch;
        break;
      }
  }

  std::vector<Rect> of(const isa::DmaCommand &move) const {
    std::vector<Rect> rects;
    const std::uint64_t end = move.dram_addr + std::uint64_t{move.rows - 1} * move.pitch + row_bytes(move);
    if (move.dram_addr >= end_ || end <= begin_) return rects;
    for (std::uint32_t row = 0; row < move.rows; ++row) {
      const std::uint64_t at = move.dram_addr + std::uint64_t{row} * move.pitch;
      for (std::uint64_t from = std::max(at, begin_), to = std::min(at + row_bytes(move), end_); from < to;) {
        const std::uint64_t line = (from - begin_) / pitch_, byte = (from - begin_) % pitch_;
        const std::uint64_t bytes = std::min(to - from, pitch_ - byte);
        Rect *above = move.pitch == pitch_ ? above_in(rects, line, byte, byte + bytes) : nullptr;
        if (above != nullptr)
          ++above->end_line;
        else
          rects.push_back({line, line + 1, byte, byte + bytes});
        from += bytes;
      }
    }
    return rects;
  }

private:
  static std::uint64_t row_bytes(const isa::DmaCommand &move) { return std::uint64_t{move.cols} * (move.fp32 ? 4 : 2); }

  /// One of the last two that the bytes of a line continue: a row may begin in one line and end in the next.
  static Rect *above_in(std::vector<Rect> &rects, std::uint64_t line, std::uint64_t byte, std::uint64_t end_byte) {
    for (std::size_t i = rects.size(); i > 0 && i + 2 > rects.size(); --i)
      if (Rect &r = rects[i - 1]; r.end_line == line && r.byte == byte && r.end_byte == end_byte) return &r;
    return nullptr;
  }

  std::uint64_t begin_, end_, pitch_;
};

/// Cells between the borders of rectangles, each with what moved it last.
class Cells {
public:
  explicit Cells(const std::vector<std::vector<Rect>> &moves) {
    for (const std::vector<Rect> &rects : moves)
      for (const Rect &r : rects) {
        lines_.insert(lines_.end(), {r.line, r.end_line});
        bytes_.insert(bytes_.end(), {r.byte, r.end_byte});
      }
    for (std::vector<std::uint64_t> *borders : {&lines_, &bytes_}) {
      std::sort(borders->begin(), borders->end());
      borders->erase(std::unique(borders->begin(), borders->end()), borders->end());
    }
    cells_.assign(lines_.size() * bytes_.size(), 0);
  }

  /// Calls f with each cell of a rectangle, until it returns false.
  template <typename F> bool each(const Rect &r, const F &f) {
    for (std::size_t line = at(lines_, r.line); lines_[line] < r.end_line; ++line)
      for (std::size_t byte = at(bytes_, r.byte); bytes_[byte] < r.end_byte; ++byte)
        if (!f(cells_[line * bytes_.size() + byte])) return false;
    return true;
  }

private:
  static std::size_t at(const std::vector<std::uint64_t> &borders, std::uint64_t value) {
    return static_cast<std::size_t>(std::lower_bound(borders.begin(), borders.end(), value) - borders.begin());
  }

  std::vector<std::uint64_t> lines_, bytes_;
  std::vector<std::uint32_t> cells_; ///< the position of the last LOAD; 0: none; or kWritten
};

std::optional<isa::DmaCommand> dma_of(const isa::Decoded &decoded) {
  const auto *dma = std::get_if<isa::DmaCommand>(&decoded.op);
  return dma == nullptr ? std::nullopt : std::optional(*dma);
}

} // namespace

bool reads_come_first(const std::vector<isa::Command> &section, std::uint64_t begin, std::uint64_t end,
                      const NpuConfig &npu) {
  std::vector<isa::DmaCommand> moves;
  for (const isa::Command &command : section)
    if (const auto dma = dma_of(*isa::decode(command))) moves.push_back(*dma);
  const Lines lines(moves, begin, end);
  std::vector<std::vector<Rect>> rects;
  for (const isa::DmaCommand &move : moves)
    rects.push_back(lines.of(move));
  Cells cells(rects);
  compiler::SyncReplay sync(npu);
  std::size_t next = 0;
  for (const isa::Command &command : section) {
    const isa::Decoded decoded = *isa::decode(command);
    if (!sync.step(decoded).empty()) return false;
    const auto dma = dma_of(decoded);
    if (!dma) continue;
    const auto move = [&](std::uint32_t &cell) {
      const bool is_written = cell == kWritten;
      if (!dma->store && is_written) return false;
      if (dma->store && !is_written && !sync.complete(static_cast<std::size_t>(isa::Engine::LOAD), cell)) return false;
      cell = dma->store ? kWritten : sync.position();
      return true;
    };
    for (const Rect &r : rects[next++])
      if (!cells.each(r, move)) return false;
  }
  return true;
}

} // namespace gradweave::runtime::train
