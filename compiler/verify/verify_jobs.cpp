// Whether jobs of one stream keep apart, from its binary commands and the places of their tensors alone.
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
      : compiled_(compiled), lanes_(npu.lanes()), rows_(npu.spm_rows(), kNobody) {}

  std::string step(const isa::Decoded &command, std::size_t said) {
    said_ = said;
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
    return {};
  }

private:
  static constexpr std::size_t kNobody = ~std::size_t{0};

  /// Whose tensor lies at an address; kNobody: none.
  std::size_t owner_of(std::uint64_t address) const {
    const std::vector<TensorBinding> &tensors = compiled_.layout.tensors; // by rising addresses
    const auto after = std::upper_bound(tensors.begin(), tensors.end(), address,
                                        [](std::uint64_t at, const TensorBinding &b) { return at < b.offset; });
    if (after == tensors.begin()) return kNobody;
    const TensorBinding &b = *std::prev(after);
    return address < b.offset + std::uint64_t{b.rows} * b.pitch ? compiled_.jobs.job_of(b.layer) : kNobody;
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
  void write(const SpmView &view) {
    view.for_rows(lanes_, [&](std::uint32_t row) { rows_[row] = said_; });
  }

  std::string load(const isa::DmaCommand &d) {
    std::size_t owner = owner_of(d.dram_addr);
    if (owner == kNobody)
      if (const auto spilled = spilled_.find(d.dram_addr); spilled != spilled_.end()) owner = spilled->second;
    if (std::string problem = expect(owner, fmt::format("address {:#x}", d.dram_addr)); !problem.empty())
      return problem;
    write(view_of(d));
    return {};
  }
  std::string store(const isa::DmaCommand &d) {
    if (std::string problem = read(view_of(d)); !problem.empty()) return problem;
    const std::size_t owner = owner_of(d.dram_addr);
    if (owner != kNobody) return expect(owner, fmt::format("address {:#x}", d.dram_addr));
    const auto [at, is_new] = spilled_.try_emplace(d.dram_addr, said_);
    return is_new ? std::string{} : expect(at->second, fmt::format("address {:#x}", d.dram_addr));
  }
  std::string compute(const std::vector<SpmView> &operands, const std::optional<SpmView> &cin, const SpmView &cout) {
    for (const SpmView &operand : operands)
      if (std::string problem = read(operand); !problem.empty()) return problem;
    if (cin)
      if (std::string problem = read(*cin); !problem.empty()) return problem;
    write(cout);
    return {};
  }

  const Compiled &compiled_;
  std::uint32_t lanes_;
  std::vector<std::size_t> rows_;
  std::map<std::uint64_t, std::size_t> spilled_; ///< by first address
  std::size_t said_ = kNobody;                   ///< whose command it is said to be
};

} // namespace

std::string verify_jobs(const Compiled &compiled, const NpuConfig &npu) {
  JobReplay replay(compiled, npu);
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    const std::optional<isa::Decoded> decoded = isa::decode(compiled.stream[i]);
    if (!decoded) return fmt::format("command {} is none", i);
    const std::string problem = replay.step(*decoded, compiled.jobs.job_of(compiled.info[i].layer));
    if (!problem.empty()) return fmt::format("command {}: {}", i, problem);
  }
  return {};
}

} // namespace gradweave::compiler
