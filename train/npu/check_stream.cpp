#include "train/npu/check_stream.hpp"

#include "compiler/verify/verify_hazards.hpp"
#include "compiler/verify/verify_sync.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

namespace gradweave::runtime::train {
namespace {

/// LOADs and STOREs of different sections that meet in a page of memory.
class MemoryOrder {
public:
  explicit MemoryOrder(std::uint64_t bytes) : pages_(bytes / kPage + 1) {}

  std::string step(const isa::DmaCommand &dma, std::uint32_t section, const compiler::SyncReplay &sync) {
    const std::uint64_t row_bytes = std::uint64_t{dma.cols} * (dma.fp32 ? 4 : 2);
    const std::uint64_t last = dma.dram_addr + std::uint64_t{dma.rows - 1} * dma.pitch + row_bytes - 1;
    for (std::uint64_t page = dma.dram_addr / kPage; page <= last / kPage; ++page)
      if (!ordered(pages_[page], dma.store, section, sync))
        return fmt::format("it may {} {:#x} before an earlier section has {} that page of memory",
                           dma.store ? "write" : "read", page * kPage, dma.store ? "read" : "written");
    return {};
  }

private:
  static constexpr std::uint64_t kPage = 4096;
  struct Uses {
    std::uint32_t last = 0, before = 0; ///< positions in the engine, of the section at hand and of those before
  };
  struct Page {
    std::uint32_t section = 0;
    Uses load, store;
  };

  static bool ordered(Page &page, bool store, std::uint32_t section, const compiler::SyncReplay &sync) {
    if (page.section != section) {
      page.section = section;
      page.load.before = std::max(page.load.before, page.load.last);
      page.store.before = std::max(page.store.before, page.store.last);
    }
    (store ? page.store : page.load).last = sync.position();
    const Uses &other = store ? page.load : page.store;
    return sync.complete(static_cast<std::size_t>(store ? isa::Engine::LOAD : isa::Engine::STORE), other.before);
  }

  std::vector<Page> pages_;
};

/// LOADs and STOREs of one section that meet in a byte of memory.
class SectionMemory {
public:
  void begin_section() { pages_.clear(); }

  std::string step(const isa::DmaCommand &dma, const compiler::SyncReplay &sync) {
    const std::uint64_t row_bytes = std::uint64_t{dma.cols} * (dma.fp32 ? 4 : 2);
    const bool one_piece = dma.rows == 1 || dma.pitch == row_bytes;
    const std::uint64_t length = one_piece ? row_bytes * dma.rows : row_bytes;
    for (std::uint32_t piece = 0; piece < (one_piece ? 1 : dma.rows); ++piece) {
      const std::uint64_t begin = dma.dram_addr + std::uint64_t{piece} * dma.pitch;
      for (std::uint64_t at = begin, end = 0; at < begin + length; at = end) {
        end = std::min(begin + length, (at / kPage + 1) * kPage);
        if (!ordered(pages_[at / kPage], {at, end, sync.position()}, dma.store, sync))
          return fmt::format("it may {} bytes of {:#x} to {:#x} while the section {} them",
                             dma.store ? "write" : "read", at, end - 1, dma.store ? "reads" : "writes");
      }
    }
    return {};
  }

private:
  static constexpr std::uint64_t kPage = 4096;
  struct Use {
    std::uint64_t begin, end;
    std::uint32_t position; ///< in its engine
  };
  struct Page {
    std::vector<Use> loads, stores; ///< that need not be complete yet
  };

  static bool ordered(Page &page, const Use &use, bool store, const compiler::SyncReplay &sync) {
    std::vector<Use> &others = store ? page.loads : page.stores;
    const auto engine = static_cast<std::size_t>(store ? isa::Engine::LOAD : isa::Engine::STORE);
    others.erase(std::remove_if(others.begin(), others.end(),
                                [&](const Use &other) { return sync.complete(engine, other.position); }),
                 others.end());
    if (std::any_of(others.begin(), others.end(),
                    [&](const Use &other) { return other.begin < use.end && use.begin < other.end; }))
      return false;
    (store ? page.stores : page.loads).push_back(use);
    return true;
  }

  std::unordered_map<std::uint64_t, Page> pages_;
};

isa::Limits limits_of(const NpuConfig &npu, std::uint64_t memory_bytes) {
  isa::Limits limits;
  limits.lanes = npu.lanes();
  limits.spm_rows = npu.spm_rows();
  limits.cores = npu.cores;
  limits.semaphores = npu.semaphores;
  limits.vectors = npu.vectors();
  limits.dram_size = memory_bytes;
  return limits;
}

} // namespace

std::string describe_place(const StepStream &stream, const graph::Graph &graph, std::size_t command) {
  const StepSection &section = stream.section_of(command);
  return fmt::format("{}{}, command {} (number {} of the section)",
                     section.op == graph::kNone ? "" : fmt::format("op '{}', ", graph.ops[section.op].name),
                     section.what, command, command - section.first);
}

std::string check_stream(const StepStream &stream, const graph::Graph &graph, const NpuConfig &npu,
                         std::uint64_t memory_bytes) {
  const isa::Limits limits = limits_of(npu, memory_bytes);
  compiler::SyncReplay sync(npu);
  compiler::HazardReplay hazards(npu);
  MemoryOrder memory(memory_bytes);
  SectionMemory inside;
  std::uint32_t section = 0;
  if (!stream.sections.empty()) hazards.begin_section(0, !stream.sections[0].has_gaps);
  for (std::size_t i = 0; i < stream.commands.size(); ++i) {
    if (i == stream.sections[section].first + stream.sections[section].count) {
      ++section;
      inside.begin_section();
      hazards.begin_section(i, !stream.sections[section].has_gaps);
    }
    std::string problem;
    const isa::ErrorCode error = isa::check_command(stream.commands[i], limits);
    if (error != isa::ErrorCode::NONE) {
      problem = fmt::format("the hardware would refuse it with error code {}", static_cast<unsigned>(error));
    } else {
      const isa::Decoded decoded = *isa::decode(stream.commands[i]);
      problem = sync.step(decoded);
      if (problem.empty()) problem = hazards.step(i, decoded, sync);
      if (const auto *dma = std::get_if<isa::DmaCommand>(&decoded.op); dma != nullptr && problem.empty()) {
        problem = memory.step(*dma, section + 1, sync);
        if (problem.empty()) problem = inside.step(*dma, sync);
      }
    }
    if (!problem.empty()) return fmt::format("{}: {}", describe_place(stream, graph, i), problem);
  }
  return sync.finish();
}

} // namespace gradweave::runtime::train
