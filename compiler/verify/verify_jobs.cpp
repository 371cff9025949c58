// Whether jobs of one stream keep apart, from its binary commands and the places of their tensors alone.
#include "compiler/ir/fused.hpp"
#include "compiler/verify/verify.hpp"
#include "compiler/verify/verify_hazards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace gradweave::compiler {
namespace {

/// Whose every row of the scratchpad and every byte of spill space is.
class JobReplay {
public:
  JobReplay(const Compiled &compiled, const NpuConfig &npu)
      : compiled_(compiled), lanes_(npu.lanes()), rows_(npu.spm_rows(), kNobody), unit_rows_(npu.spm_rows(), false),
        units_(npu.vectors()) {}

  /// `of_unit`: of a layer that a section computes.
  std::string step(const isa::Decoded &command, std::size_t said, bool of_unit) {
    said_ = said;
    of_unit_ = of_unit;
    if (const auto *d = std::get_if<isa::DmaCommand>(&command.op)) return d->store ? store(*d) : load(*d);
    if (const auto *g = std::get_if<isa::GemmCommand>(&command.op)) {
      const GemmViews v(*g);
      return compute({v.a, v.b}, g->acc ? std::optional<SpmView>(v.cin) : std::nullopt, v.cout);
    }
    if (const auto *c = std::get_if<isa::ConvCommand>(&command.op)) {
      const GemmViews v(c->product);
      std::vector<SpmView> operands = image_views(*c);
      const isa::GemmCommand &g = c->product;
      operands.push_back({g.b, c->b_rows(), g.b_col ? g.k : g.n, false});
      return compute(operands, g.acc ? std::optional<SpmView>(v.cin) : std::nullopt, v.cout);
    }
    if (const auto *c = std::get_if<isa::AddCommand>(&command.op)) {
      const AddViews v(*c);
      return compute({v.a}, v.cin, v.cout);
    }
    if (const auto *p = std::get_if<isa::ProgramCommand>(&command.op)) units_.at(p->unit).take(*p);
    if (const auto *t = std::get_if<isa::TileCommand>(&command.op)) units_.at(t->unit).take(*t);
    if (const auto *v = std::get_if<isa::VectorCommand>(&command.op)) return run(units_.at(v->unit).uses(*v));
    return {};
  }

private:
  static constexpr std::size_t kNobody = ~std::size_t{0};

  /// Bytes [first, end) of memory.
  struct Bytes {
    std::uint64_t first = 0, end = 0;
  };
  static Bytes bytes_of(const isa::DmaCommand &d) {
    return {d.dram_addr,
            d.dram_addr + std::uint64_t{d.rows - 1} * d.pitch + std::uint64_t{d.cols} * (d.fp32 ? 4U : 2U)};
  }

  /// The last tensor that begins at the address or below; end(): none.
  std::vector<TensorBinding>::const_iterator tensor_at(std::uint64_t address) const {
    const std::vector<TensorBinding> &tensors = compiled_.layout.tensors; // by rising addresses
    const auto after = std::upper_bound(tensors.begin(), tensors.end(), address,
                                        [](std::uint64_t at, const TensorBinding &b) { return at < b.offset; });
    return after == tensors.begin() ? tensors.end() : std::prev(after);
  }
  /// Whose tensor has all of the bytes; kNobody: they are outside of all tensors, or in several.
  std::size_t owner_of(const Bytes &bytes) const {
    const auto tensor = tensor_at(bytes.first);
    if (tensor == compiled_.layout.tensors.end()) return kNobody;
    const bool whole = bytes.end <= tensor->offset + std::uint64_t{tensor->rows} * tensor->pitch;
    return whole ? compiled_.jobs.job_of(tensor->layer) : kNobody;
  }
  /// Whether any of the bytes is a tensor's.
  bool touches_tensor(const Bytes &bytes) const {
    const auto tensor = tensor_at(bytes.end - 1);
    return tensor != compiled_.layout.tensors.end() &&
           bytes.first < tensor->offset + std::uint64_t{tensor->rows} * tensor->pitch;
  }

  std::string expect(std::size_t owner, const std::string &what) const {
    if (owner == said_) return {};
    if (owner == kNobody) return fmt::format("a command of job {} uses {}, which nobody has written", said_, what);
    return fmt::format("a command of job {} uses {}, which is job {}'s", said_, what, owner);
  }
  std::string read(const SpmView &view) const {
    std::string problem;
    view.for_rows(lanes_, [&](std::uint32_t row) {
      if (problem.empty()) problem = expect(rows_[row], fmt::format("scratchpad row {}", row));
    });
    return problem;
  }
  /// Of a section, whose commands run over whole tiles of which some lines may count for nothing: what a section before
  /// left there, for whichever job, or nobody wrote. Its results are stored from the job's own rows only, as all are.
  std::string read_in_section(const SpmView &view) const {
    std::string problem;
    view.for_rows(lanes_, [&](std::uint32_t row) {
      if (problem.empty() && rows_[row] != kNobody && !unit_rows_[row])
        problem = expect(rows_[row], fmt::format("scratchpad row {}", row));
    });
    return problem;
  }
  void write(const SpmView &view) {
    view.for_rows(lanes_, [&](std::uint32_t row) {
      rows_[row] = said_;
      unit_rows_[row] = of_unit_;
    });
  }

  std::string run(const std::vector<vector::TileUse> &uses) {
    for (const vector::TileUse &use : uses)
      if (!use.is_result())
        if (std::string problem = read_in_section(view_of(use)); !problem.empty()) return problem;
    for (const vector::TileUse &use : uses)
      if (use.is_result()) write(view_of(use));
    return {};
  }

  std::string expect_bytes(std::size_t owner, const Bytes &bytes) const {
    if (owner == kNobody)
      return fmt::format("a command of job {} uses addresses {:#x} to {:#x}, not all of which are a job's", said_,
                         bytes.first, bytes.end - 1);
    return expect(owner, fmt::format("address {:#x}", bytes.first));
  }

  std::string load(const isa::DmaCommand &d) {
    const Bytes bytes = bytes_of(d);
    const std::size_t owner = touches_tensor(bytes) ? owner_of(bytes) : spiller_of(bytes);
    if (std::string problem = expect_bytes(owner, bytes); !problem.empty()) return problem;
    write(view_of(d));
    return {};
  }
  std::string store(const isa::DmaCommand &d) {
    if (std::string problem = read(view_of(d)); !problem.empty()) return problem;
    const Bytes bytes = bytes_of(d);
    return touches_tensor(bytes) ? expect_bytes(owner_of(bytes), bytes) : spill(bytes);
  }

  /// Who has spilled all of the bytes; kNobody: nobody, or not all of them.
  std::size_t spiller_of(const Bytes &bytes) const {
    const auto after = spilled_.upper_bound(bytes.first);
    if (after == spilled_.begin()) return kNobody;
    const Spilled &at = std::prev(after)->second;
    return bytes.end <= at.end ? at.owner : kNobody;
  }
  /// Adds the bytes to what the job has spilled, together with what they touch of it.
  std::string spill(Bytes bytes) {
    auto at = spilled_.upper_bound(bytes.first);
    if (at != spilled_.begin() && std::prev(at)->second.end >= bytes.first) --at;
    while (at != spilled_.end() && at->first <= bytes.end) {
      const bool shared = at->first < bytes.end && at->second.end > bytes.first;
      if (at->second.owner != said_) {
        if (shared) return expect_bytes(at->second.owner, {std::max(bytes.first, at->first), bytes.end});
        ++at;
        continue;
      }
      bytes = {std::min(bytes.first, at->first), std::max(bytes.end, at->second.end)};
      at = spilled_.erase(at);
    }
    spilled_[bytes.first] = {bytes.end, said_};
    return {};
  }
  std::string compute(const std::vector<SpmView> &operands, const std::optional<SpmView> &cin, const SpmView &cout) {
    for (const SpmView &operand : operands)
      if (std::string problem = of_unit_ ? read_in_section(operand) : read(operand); !problem.empty()) return problem;
    if (cin)
      if (std::string problem = read(*cin); !problem.empty()) return problem;
    write(cout);
    return {};
  }

  const Compiled &compiled_;
  std::uint32_t lanes_;
  std::vector<std::size_t> rows_;
  std::vector<bool> unit_rows_; ///< that a section of the vector unit wrote or loaded last
  std::vector<vector::UnitState> units_;
  struct Spilled {
    std::uint64_t end = 0;
    std::size_t owner = kNobody;
  };
  std::map<std::uint64_t, Spilled> spilled_; ///< runs of bytes that a job has spilled, by first address
  std::size_t said_ = kNobody;               ///< whose command it is said to be
  bool of_unit_ = false;                     ///< likewise, for a layer of the vector unit
};

} // namespace

std::string verify_jobs(const Compiled &compiled, const NpuConfig &npu) {
  JobReplay replay(compiled, npu);
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    const std::optional<isa::Decoded> decoded = isa::decode(compiled.stream[i]);
    if (!decoded) return fmt::format("command {} is none", i);
    const CommandInfo &info = compiled.info[i];
    const std::string problem =
        replay.step(*decoded, compiled.jobs.job_of(info.layer), is_in_section(compiled.layers, info.layer));
    if (!problem.empty()) return fmt::format("command {}: {}", i, problem);
  }
  return {};
}

} // namespace gradweave::compiler
