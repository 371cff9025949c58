// Replays a program action by action on a model of the scratchpad that knows which tile each row holds.
#include "compiler/ir/vector_section.hpp"
#include "compiler/verify/operands/image_operands.hpp"
#include "compiler/verify/operands/operands.hpp"
#include "compiler/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace gradweave::compiler {
namespace {

/// What a run of rows holds: a rectangle of a tensor, as operand or as a sum of terms from `first` to `done`.
struct Content {
  std::int32_t binding = -1; ///< of the tensor
  Rect rect;
  bool fp32 = false;
  std::uint32_t first = 0, done = 0; ///< of a sum: terms it has so far
  bool operator==(const Content &o) const {
    return binding == o.binding && rect == o.rect && fp32 == o.fp32 && first == o.first && done == o.done;
  }
};

class Replay {
public:
  Replay(const Program &program, const Layout &layout, const NpuConfig &npu)
      : program_(program), layout_(layout), npu_(npu),
        guarded_(std::any_of(program.layers.begin(), program.layers.end(), [](const Layer &l) { return l.image; })),
        stored_(layout.tensors.size(), false) {}

  std::string run() {
    for (const Action &a : program_.actions) {
      const std::string problem = step(a);
      if (!problem.empty()) return fmt::format("action {}: {}", index_, problem);
      ++index_;
    }
    if (section_ != nullptr) return "a section of the vector unit does not end";
    if (gemms_ != program_.products.size())
      return fmt::format("{} GEMMs and ADDs for {} tile products", gemms_, program_.products.size());
    return {};
  }

private:
  std::string step(const Action &a) {
    switch (a.kind) {
    case Action::Kind::kLoad:
      return load(a);
    case Action::Kind::kStore:
      return store(a);
    case Action::Kind::kGemm:
      return gemm(a);
    case Action::Kind::kAdd:
      return add(a);
    case Action::Kind::kGate:
      return gate(a);
    case Action::Kind::kPiece:
      return piece(a);
    case Action::Kind::kRows:
      return rows(a);
    case Action::Kind::kDone:
      break;
    }
    return done(a);
  }

  std::string name(const Content &c) const {
    const TensorBinding &b = layout_.tensors[static_cast<std::size_t>(c.binding)];
    return fmt::format("{} ({}, {}) {} x {}", to_string(b.tensor), c.rect.row, c.rect.col, c.rect.rows, c.rect.cols);
  }

  std::string check_place(const Place &p, const Content &c) const {
    if (p.panels != 0) return check_part(p, c);
    const std::uint64_t rows = rows_of_tile(c.rect, c.fp32, npu_.lanes());
    const std::uint64_t panel = panel_rows_of_tile(c.rect) * (c.fp32 ? 2U : 1U);
    const std::uint64_t between =
        (c.rect.cols - 1) / npu_.lanes() * (p.pstride - std::min(panel, std::uint64_t{p.pstride}));
    if (p.rows.rows < p.guard + between + rows || (!guarded_ && p.rows.rows != rows) || p.pstride < panel ||
        (!guarded_ && p.pstride != panel) || p.rows.first % 2 != 0)
      return fmt::format("{} has a place that does not suit its size", name(c));
    if (p.rows.end() > npu_.spm_rows())
      return fmt::format("{} ends at row {} of {}", name(c), p.rows.end(), npu_.spm_rows());
    return {};
  }

  /// Some rows of a tile of elements, in each of its panels.
  std::string check_part(const Place &p, const Content &c) const {
    const std::uint32_t panels = (c.rect.cols + npu_.lanes() - 1) / npu_.lanes();
    if (c.fp32 || !is_plain(c) || p.panels != panels || p.rows.rows < c.rect.rows || p.pstride < p.rows.rows ||
        p.guard != 0 || p.rot >= npu_.lanes())
      return fmt::format("{} has a place that does not suit its size", name(c));
    const std::uint64_t end = p.rows.end() + std::uint64_t{panels - 1} * p.pstride;
    if (end > npu_.spm_rows()) return fmt::format("{} ends at row {} of {}", name(c), end, npu_.spm_rows());
    return {};
  }

  std::string expect(const Place &p, const Content &c) const {
    if (std::string problem = check_place(p, c); !problem.empty()) return problem;
    const auto it = spm_.find(p.rows.first);
    const bool whole = p.panels == 0 && it != spm_.end() && it->second.content == c && it->second.place.panels == 0;
    if (!whole && !holds_lines(p, c, 0)) return fmt::format("row {} does not hold {}", p.rows.first, name(c));
    return {};
  }

  /// Elements of a tensor in a row of the scratchpad.
  struct Line {
    std::int32_t binding = -1;
    std::uint32_t row = 0, col = 0, cols = 0, rot = 0;
    bool operator==(const Line &o) const {
      return binding == o.binding && row == o.row && col == o.col && cols == o.cols && rot == o.rot;
    }
  };
  std::optional<Line> line_at(std::uint32_t row) const {
    auto it = spm_.upper_bound(row);
    if (it == spm_.begin()) return std::nullopt;
    const Held &held = (--it)->second;
    const Content &c = held.content;
    const std::uint32_t first = held.place.rows.first + held.place.guard, lanes = npu_.lanes();
    if (row >= held.end || row < first || c.fp32 || !is_plain(c)) return std::nullopt;
    const std::uint32_t panel = (row - first) / held.place.pstride, line = (row - first) % held.place.pstride;
    if (line >= c.rect.rows || panel * lanes >= c.rect.cols) return std::nullopt;
    return Line{c.binding, c.rect.row + line, c.rect.col + panel * lanes, std::min(lanes, c.rect.cols - panel * lanes),
                (held.place.rot + line) % lanes};
  }

  /// Whether the place holds the elements row by row, whatever tiles they came in, `skip` rows behind its first.
  bool holds_lines(const Place &p, const Content &c, std::uint32_t skip) const {
    const std::uint32_t lanes = npu_.lanes(), first = p.rows.first + p.guard;
    if (c.fp32 || !is_plain(c)) return false;
    for (std::uint32_t panel = 0; panel * lanes < c.rect.cols; ++panel)
      for (std::uint32_t line = 0; line < c.rect.rows; ++line) {
        const auto held = line_at(first + panel * p.pstride + skip + line);
        const Line wanted{c.binding, c.rect.row + line, c.rect.col + panel * lanes,
                          std::min(lanes, c.rect.cols - panel * lanes), (p.rot + skip + line) % lanes};
        if (!held || !(*held == wanted)) return false;
      }
    return true;
  }

  /// Whether no tile as a whole is there. What begins in the first row of a guard, and ends before the first line, was
  /// there before: parts leave a guard as it is.
  bool came_in_parts(const Place &p) const {
    const auto it = spm_.find(p.rows.first);
    return p.panels != 0 || it == spm_.end() || it->second.place.panels != 0 ||
           it->second.end <= p.rows.first + p.guard;
  }

  /// Not a sum, and without gaps of a grid or taps side by side.
  static bool is_plain(const Content &c) { return c.done == 0 && c.rect.pixels.width == 0 && c.rect.taps.rows == 0; }

  /// The same, of a tile of images that may have more rows than these.
  std::string expect_lines(const Place &p, Content c, const Layer &layer, Tensor tensor) const {
    const auto it = spm_.find(p.rows.first);
    // Of parts of tiles, or a tile of parts, the first line tells which rows follow.
    if (const auto first = line_at(p.rows.first + p.guard); first && came_in_parts(p)) {
      const std::uint32_t skip = c.rect.row - first->row, rows = p.panels != 0 ? p.rows.rows : p.pstride;
      const bool inside = c.rect.rows == 0 || (c.rect.row >= first->row && skip + c.rect.rows <= rows);
      if (inside && (c.rect.rows == 0 || holds_lines(p, c, skip))) return {};
      return fmt::format("row {} does not hold {}", p.rows.first, name(c));
    }
    if (it == spm_.end()) return fmt::format("row {} does not hold {}", p.rows.first, name(c));
    Content lines = it->second.content;
    if (std::string problem = check_place(p, lines); !problem.empty()) return problem;
    const bool there = c.rect.rows == 0 ||
                       (lines.rect.row <= c.rect.row && lines.rect.row + lines.rect.rows >= c.rect.row + c.rect.rows);
    c.rect.pixels = grid_form(layer, tensor, lines.rect);
    lines.rect.row = c.rect.row;
    lines.rect.rows = c.rect.rows;
    if (!there || !(lines == c)) return fmt::format("row {} does not hold {}", p.rows.first, name(c));
    return {};
  }

  /// A write ends the life of all tiles that it overlaps.
  std::string put(const Place &p, const Content &c) {
    if (std::string problem = check_place(p, c); !problem.empty()) return problem;
    if (p.panels == 0) {
      put_rows(p, c);
      return {};
    }
    for (std::uint32_t panel = 0; panel < p.panels; ++panel) {
      Place own = p;
      own.rows.first += panel * p.pstride;
      Content columns = c;
      columns.rect.col += panel * npu_.lanes();
      columns.rect.cols = std::min(npu_.lanes(), c.rect.cols - panel * npu_.lanes());
      put_rows(own, columns);
    }
    return {};
  }

  void put_rows(const Place &p, const Content &c) {
    auto it = spm_.upper_bound(p.rows.first);
    if (it != spm_.begin()) --it; // tiles are disjoint: only this one can reach in from before
    while (it != spm_.end() && it->first < p.rows.end()) {
      const bool overlaps = it->second.end > p.rows.first;
      it = overlaps ? spm_.erase(it) : std::next(it);
    }
    spm_.emplace(p.rows.first, Held{c, p.rows.end(), p});
  }

  std::string load(const Action &a) {
    const auto binding = static_cast<std::size_t>(a.binding);
    if (!a.spill && !layout_.tensors[binding].input && !stored_[binding])
      return fmt::format("loads {}, which is no input", to_string(a.tensor));
    Content c{a.binding, program_.rect(a), a.fp32, 0, 0};
    if (a.spill) {
      const auto it = spilled_.find(a.memory.address);
      if (it == spilled_.end() || !(spilled_rect(it->second.rect) == c.rect) || it->second.binding != a.binding)
        return fmt::format("loads partial sums of {} that were not spilled there", name(c));
      c = it->second;
    }
    return put(program_.place(a.place), c);
  }

  std::string store(const Action &a) {
    const Place place = program_.place(a.place);
    const auto it = spm_.find(place.rows.first);
    const auto moved = [&](const Rect &rect) { return a.spill ? spilled_rect(rect) : rect; };
    const Content elements_moved{a.binding, program_.rect(a), a.fp32, 0, 0};
    if (came_in_parts(place) && !a.spill) {
      if (!holds_lines(place, elements_moved, 0))
        return fmt::format("stores rows that do not hold {}", name(elements_moved));
      stored_[static_cast<std::size_t>(a.binding)] = true;
      return {};
    }
    if (it == spm_.end() || it->second.content.binding != a.binding ||
        !(moved(it->second.content.rect) == elements_moved.rect) || it->second.content.fp32 != a.fp32)
      return fmt::format("stores rows that do not hold {}", name(elements_moved));
    if (a.spill)
      spilled_[a.memory.address] = it->second.content;
    else
      stored_[static_cast<std::size_t>(a.binding)] = true;
    return {};
  }

  std::string gemm(const Action &a) {
    const TileProduct &p = program_.products.at(a.product);
    if (a.product != gemms_++) return fmt::format("product {} is out of order", a.product);
    const Layer &layer = program_.layers[p.layer];
    const Operands r = operands_of(p, layer);
    const std::uint32_t first = program_.reductions[p.layer].first(p.result, p.part);
    const std::int32_t result = layout_.place(p.layer, p.result);
    const auto operand = [&](const Spot &spot, Tensor t, const Rect &rect) {
      const Place place = program_.place(spot);
      const Content c = elements(layout_.place(p.layer, t), rect);
      return layer.image && has_lines(t) ? expect_lines(place, c, layer, t) : expect(place, c);
    };
    for (const std::string &problem :
         {operand(a.in.a, r.a, r.a_rect), operand(a.in.b, r.b, r.b_rect),
          a.acc ? expect(program_.place(a.in.cin), {result, r.result, true, first, r.first}) : std::string{}})
      if (!problem.empty()) return problem;
    if (a.acc != (r.first > first))
      return fmt::format("product {} begins at {} of its reduction and {} initial values", a.product, r.first,
                         a.acc ? "has" : "lacks");
    return put(program_.place(a.place), finished(a, {result, r.result, !a.out_bf16, first, r.first + r.terms}));
  }

  std::string add(const Action &a) {
    const TileProduct &p = program_.products.at(a.product);
    if (a.product != gemms_++) return fmt::format("product {} is out of order", a.product);
    const Operands r = operands_of(p, program_.layers[p.layer]);
    const std::int32_t result = layout_.place(p.layer, p.result);
    const std::uint32_t end = r.first + r.terms;
    for (const std::string &problem : {expect(program_.place(a.in.a), {result, r.result, true, 0, r.first}),
                                       expect(program_.place(a.in.cin), {result, r.result, true, r.first, end})})
      if (!problem.empty()) return problem;
    return put(program_.place(a.place), finished(a, {result, r.result, !a.out_bf16, 0, end}));
  }

  /// A section of the vector unit begins with a gate for each operand, of which something is stored by then; others may
  /// stand in it. Whether that is what pieces load, the stream tells.
  std::string gate(const Action &a) {
    const bool own = section_ != nullptr && std::find(section_->operands.begin(), section_->operands.end(),
                                                      SectionOperand{a.layer, a.tensor}) != section_->operands.end();
    if (section_ != nullptr && !own) return "a section of the vector unit begins in another";
    const auto binding = static_cast<std::size_t>(a.binding);
    if (!layout_.tensors[binding].input && !stored_[binding])
      return fmt::format("the vector unit reads {}, which is no input", to_string(a.tensor));
    gates_.push_back({a.layer, a.tensor});
    return {};
  }

  std::string piece(const Action &a) {
    const TileProduct &p = program_.products.at(a.product);
    if (a.product != gemms_++) return fmt::format("product {} is out of order", a.product);
    const auto found = program_.sections.find({p.layer, p.result});
    if (found == program_.sections.end()) return "a piece is of no section of the vector unit";
    const VectorSection &section = *found->second;
    if (p.m == 0) {
      if (gates_ != section.operands)
        return fmt::format("the vector unit computes {} without a gate for each operand", to_string(p.result));
      section_ = &section;
      pieces_ = 0;
    }
    gates_.clear();
    if (section_ != &section || p.m != pieces_++ || p.m >= section.pieces.size())
      return fmt::format("piece {} of {} does not follow the one before", p.m, to_string(p.result));
    return {};
  }

  std::string rows(const Action &a) {
    if (section_ == nullptr || a.tensor != section_->result)
      return fmt::format("rows of {} are said to be stored by no piece of the vector unit", to_string(a.tensor));
    stored_[static_cast<std::size_t>(a.binding)] = true;
    return {};
  }

  std::string done(const Action &a) {
    if (section_ == nullptr || pieces_ != section_->pieces.size() || a.tensor != section_->result)
      return fmt::format("{} is said to be stored before all pieces of the vector unit are", to_string(a.tensor));
    stored_[static_cast<std::size_t>(a.binding)] = true;
    section_ = nullptr;
    return {};
  }

  /// Sums are spilled as they lie, gaps included.
  static Rect spilled_rect(const Rect &rect) {
    return {rect.row, rect.col, static_cast<std::uint32_t>(panel_rows_of_tile(rect)), rect.cols};
  }

  static Content elements(std::int32_t binding, const Rect &rect) { return {binding, rect, false, 0, 0}; }

  /// What a product leaves: a sum, or once it is rounded to bf16 elements like any other.
  static Content finished(const Action &a, const Content &sum) {
    return a.out_bf16 ? elements(sum.binding, sum.rect) : sum;
  }

  const Program &program_;
  const Layout &layout_;
  const NpuConfig &npu_;
  /// A tile in rows that end before `end`.
  struct Held {
    Content content;
    std::uint32_t end = 0;
    Place place;
  };
  bool guarded_ = false;              ///< whether tiles may have rows around them that images are read beyond
  std::map<std::uint32_t, Held> spm_; ///< by first row
  std::map<std::uint64_t, Content> spilled_;
  std::vector<bool> stored_; ///< tensors of which tiles were stored
  std::size_t index_ = 0;
  std::size_t gemms_ = 0;
  std::vector<SectionOperand> gates_;      ///< that have stood since the last piece
  const VectorSection *section_ = nullptr; ///< that is under way
  std::size_t pieces_ = 0;                 ///< of it, so far
};

} // namespace

std::string verify_program(const Program &program, const Layout &layout, const NpuConfig &npu) {
  return Replay(program, layout, npu).run();
}

} // namespace gradweave::compiler
