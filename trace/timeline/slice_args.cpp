#include "trace/timeline/slice_args.hpp"

#include "trace/timeline/trace_events.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <variant>

namespace gradweave::runtime::timeline {
namespace {

std::string cycle_json(std::uint64_t cycle) { return cycle == timing::kNever ? "null" : fmt::format("{}", cycle); }

std::string work_json(const isa::DmaCommand &d) {
  const std::uint64_t bytes = std::uint64_t{d.rows} * d.cols * (d.fp32 ? 4 : 2);
  return fmt::format(R"(,"shape":"{} x {} {}","bytes":{},"dram":"{:#x}","spm_row":{})", d.rows, d.cols,
                     d.fp32 ? "fp32" : "bf16", bytes, d.dram_addr, d.spm.row);
}

std::string work_json(const isa::GemmCommand &g) {
  std::string text = fmt::format(R"(,"shape":"m {} n {} k {}, {} to {}","macs":{},"a_row":{},"b_row":{})", g.m, g.n,
                                 g.k, g.acc ? "fp32 sums" : "zero", g.out_bf16 ? "bf16" : "fp32",
                                 std::uint64_t{g.m} * g.n * g.k, g.a.row, g.b.row);
  if (g.acc) text += fmt::format(R"(,"cin_row":{})", g.cin.row);
  return text + fmt::format(R"(,"cout_row":{})", g.cout.row);
}

std::string work_json(const isa::ConvCommand &v) {
  const isa::ImageWalk &i = v.image;
  isa::GemmCommand g = v.product;
  g.k = v.steps();
  return work_json(g) + fmt::format(R"(,"image":"{} x {}","taps":"{} x {}")", i.img_h, i.img_w, i.taps_y, i.taps_x);
}

std::string work_json(const isa::AddCommand &a) {
  return fmt::format(R"(,"shape":"m {} n {}, fp32 to {}","a_row":{},"cin_row":{},"cout_row":{})", a.m, a.n,
                     a.out_bf16 ? "bf16" : "fp32", a.a.row, a.cin.row, a.cout.row);
}

std::string work_json(const isa::SyncCommand &) { return {}; }
std::string work_json(const isa::ProgramCommand &p) { return fmt::format(R"(,"words":{})", p.count); }
std::string work_json(const isa::TileCommand &) { return {}; }
std::string work_json(const isa::VectorCommand &v) {
  return fmt::format(R"(,"shape":"{} elements, {} steps","program":{})", v.elements, v.steps, v.first);
}

/// A member of the object, or nothing if there are no values.
std::string list_json(const char *name, const std::string &values) {
  return values.empty() ? std::string() : fmt::format(R"(,"{}":"{}")", name, values);
}

} // namespace

std::string slice_args(std::size_t index, const CommandLabel &label, const isa::Decoded &command,
                       const timing::CommandTimes &times) {
  std::string waits, posts;
  for (const isa::Wait &w : command.sync.waits)
    if (w.semaphore != isa::kNoSemaphore)
      waits += fmt::format("{}{}x{}", waits.empty() ? "" : " ", w.semaphore, w.count);
  for (const std::uint8_t p : command.sync.posts)
    if (p != isa::kNoSemaphore) posts += fmt::format("{}{}", posts.empty() ? "" : " ", p);
  std::string text = fmt::format(R"("index":{},"opcode":{},"layer":{},"tile":{},"issue":{},"start":{},"done":{})",
                                 index, json_string(label.opcode), json_string(label.layer), json_string(label.tile),
                                 cycle_json(times.issue), cycle_json(times.start), cycle_json(times.done));
  text += list_json("waits", waits) + list_json("posts", posts);
  return text + std::visit([](const auto &op) { return work_json(op); }, command.op);
}

} // namespace gradweave::runtime::timeline
