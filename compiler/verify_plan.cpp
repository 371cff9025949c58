// Replays a program action by action on a model of the scratchpad that knows which tile each row holds.
#include "compiler/layout.hpp"
#include "compiler/verify.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

namespace gradweave::compiler {
namespace {

/// What a run of rows holds: a rectangle of a tensor, as operand or as a sum of terms from `first` to `done`.
struct Content {
  Tensor tensor = Tensor::kX;
  Rect rect;
  bool fp32 = false;
  std::uint32_t first = 0, done = 0; ///< of a sum: terms it has so far
  bool operator==(const Content &o) const {
    return tensor == o.tensor && rect == o.rect && fp32 == o.fp32 && first == o.first && done == o.done;
  }
};

std::string name(const Content &c) {
  return fmt::format("{} ({}, {}) {} x {}", to_string(c.tensor), c.rect.row, c.rect.col, c.rect.rows, c.rect.cols);
}

bool is_input(Tensor t) { return t == Tensor::kX || t == Tensor::kW || t == Tensor::kDY; }

class Replay {
public:
  Replay(const Program &program, const NpuConfig &npu) : program_(program), npu_(npu) {}

  std::string run() {
    for (const Action &a : program_.actions) {
      const std::string problem = a.kind == Action::Kind::kGemm   ? gemm(a)
                                  : a.kind == Action::Kind::kAdd  ? add(a)
                                  : a.kind == Action::Kind::kLoad ? load(a)
                                                                  : store(a);
      if (!problem.empty()) return fmt::format("action {}: {}", index_, problem);
      ++index_;
    }
    if (gemms_ != program_.products.size())
      return fmt::format("{} GEMMs and ADDs for {} tile products", gemms_, program_.products.size());
    return {};
  }

private:
  std::string check_place(const Place &p, const Content &c) const {
    const std::uint32_t rows = spm_rows(c.rect.rows, c.rect.cols, c.fp32, npu_.lanes());
    if (p.rows.rows != rows || p.pstride != c.rect.rows * (c.fp32 ? 2U : 1U) || p.rows.first % 2 != 0)
      return fmt::format("{} has a place that does not suit its size", name(c));
    if (p.rows.end() > npu_.spm_rows())
      return fmt::format("{} ends at row {} of {}", name(c), p.rows.end(), npu_.spm_rows());
    return {};
  }

  std::string expect(const Place &p, const Content &c) const {
    if (std::string problem = check_place(p, c); !problem.empty()) return problem;
    const auto it = spm_.find(p.rows.first);
    if (it == spm_.end() || !(it->second == c)) return fmt::format("row {} does not hold {}", p.rows.first, name(c));
    return {};
  }

  /// A write ends the life of all tiles that it overlaps.
  std::string put(const Place &p, const Content &c) {
    if (std::string problem = check_place(p, c); !problem.empty()) return problem;
    auto it = spm_.upper_bound(p.rows.first);
    if (it != spm_.begin()) --it; // tiles are disjoint: only this one can reach in from before
    while (it != spm_.end() && it->first < p.rows.end()) {
      const Content &old = it->second;
      const bool overlaps = it->first + spm_rows(old.rect.rows, old.rect.cols, old.fp32, npu_.lanes()) > p.rows.first;
      it = overlaps ? spm_.erase(it) : std::next(it);
    }
    spm_.emplace(p.rows.first, c);
    return {};
  }

  std::string load(const Action &a) {
    if (!a.spill && !is_input(a.tensor)) return fmt::format("loads {}, which is no input", to_string(a.tensor));
    Content c{a.tensor, a.rect, a.fp32, 0, 0};
    if (a.spill) {
      const auto it = spilled_.find(a.dram_addr);
      if (it == spilled_.end() || !(it->second.rect == a.rect) || it->second.tensor != a.tensor)
        return fmt::format("loads partial sums of {} that were not spilled there", name(c));
      c = it->second;
    }
    return put(a.place, c);
  }

  std::string store(const Action &a) {
    const auto it = spm_.find(a.place.rows.first);
    if (it == spm_.end() || it->second.tensor != a.tensor || !(it->second.rect == a.rect) || it->second.fp32 != a.fp32)
      return fmt::format("stores rows that do not hold {}", name({a.tensor, a.rect, a.fp32, 0, 0}));
    if (a.spill) spilled_[a.dram_addr] = it->second;
    return {};
  }

  std::string gemm(const Action &a) {
    const TileProduct &p = program_.products.at(a.product);
    if (a.product != gemms_++) return fmt::format("product {} is out of order", a.product);
    const GemmRoles r = roles(p, program_.layer);
    const std::uint32_t first = program_.reductions.first(p.result, p.part);
    for (const std::string &problem :
         {expect(a.a, {r.a, r.a_rect, false, 0, 0}), expect(a.b, {r.b, r.b_rect, false, 0, 0}),
          a.acc ? expect(a.cin, {p.result, r.c_rect, true, first, r.red}) : std::string{}})
      if (!problem.empty()) return problem;
    if (a.acc != (r.red > first))
      return fmt::format("product {} begins at {} of its reduction and {} initial values", a.product, r.red,
                         a.acc ? "has" : "lacks");
    return put(a.cout, {p.result, r.c_rect, !a.out_bf16, first, r.red + r.red_size});
  }

  std::string add(const Action &a) {
    const TileProduct &p = program_.products.at(a.product);
    if (a.product != gemms_++) return fmt::format("product {} is out of order", a.product);
    const GemmRoles r = roles(p, program_.layer);
    const std::uint32_t end = r.red + r.red_size;
    for (const std::string &problem :
         {expect(a.a, {p.result, r.c_rect, true, 0, r.red}), expect(a.cin, {p.result, r.c_rect, true, r.red, end})})
      if (!problem.empty()) return problem;
    return put(a.cout, {p.result, r.c_rect, !a.out_bf16, 0, end});
  }

  const Program &program_;
  const NpuConfig &npu_;
  std::map<std::uint32_t, Content> spm_; ///< by first row
  std::map<std::uint64_t, Content> spilled_;
  std::size_t index_ = 0;
  std::size_t gemms_ = 0;
};

} // namespace

std::string verify_program(const Program &program, const NpuConfig &npu) { return Replay(program, npu).run(); }

} // namespace gradweave::compiler
