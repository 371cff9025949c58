// The final check of a compiled layer, from its binary commands and tensor bindings alone.
#include "compiler/verify.hpp"
#include "compiler/verify_content.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {
namespace {

/// The bindings that the layer and pass call for.
std::string check_bindings(const CompiledLayer &c, const NpuConfig &npu) {
  const Layer &l = c.layer;
  const bool forward = c.pass != Pass::kBackward, backward = c.pass != Pass::kForward, dx = backward && l.dx;
  struct Expected {
    Tensor tensor;
    bool wanted, input, fp32;
    std::uint32_t rows, cols;
  };
  const std::uint32_t all_k = l.groups * l.k, all_n = l.groups * l.n;
  const std::array<Expected, kTensorCount> expected{{{Tensor::kX, true, true, false, l.m, all_k},
                                                     {Tensor::kW, forward || dx, true, false, all_k, l.n},
                                                     {Tensor::kDY, backward, true, false, l.m, all_n},
                                                     {Tensor::kY, forward, false, false, l.m, all_n},
                                                     {Tensor::kDX, dx, false, false, l.m, all_k},
                                                     {Tensor::kDW, backward, false, true, all_k, l.n}}};
  std::size_t found = 0;
  std::uint64_t end = 0;
  for (const Expected &e : expected) {
    if (!e.wanted) continue;
    if (found == c.tensors.size() || c.tensors[found].tensor != e.tensor)
      return fmt::format("tensor {} is not bound", to_string(e.tensor));
    const TensorBinding &b = c.tensors[found++];
    const std::uint64_t row_bytes = static_cast<std::uint64_t>(b.cols) * (b.fp32 ? 4 : 2);
    if (b.input != e.input || b.fp32 != e.fp32 || b.rows != e.rows || b.cols != e.cols || b.pitch < row_bytes ||
        b.pitch % npu.bus_bytes != 0 || b.offset % 4096 != 0 || b.offset < end)
      return fmt::format("the binding of {} does not describe it, or overlaps another", to_string(e.tensor));
    end = b.offset + static_cast<std::uint64_t>(b.rows) * b.pitch;
  }
  if (found != c.tensors.size()) return "a tensor is bound that the pass does not use";
  if (end > c.dram_bytes) return fmt::format("tensors end at {}, beyond the {} bytes of the layer", end, c.dram_bytes);
  return {};
}

/// Adds a transfer to the traffic of the tensor that its info names.
void count(const isa::DmaCommand &d, const CommandInfo &info, const NpuConfig &npu,
           std::array<Traffic, kTensorCount> &traffic) {
  Traffic &t = traffic[static_cast<std::size_t>(info.tensor)];
  const std::uint64_t row_bytes = d.cols * (d.fp32 ? 4ULL : 2ULL);
  std::uint64_t bus = 0;
  for (std::uint32_t row = 0; row < d.rows; ++row) {
    const std::uint64_t first = d.dram_addr + static_cast<std::uint64_t>(row) * d.pitch;
    bus += (first + row_bytes - 1) / npu.bus_bytes - first / npu.bus_bytes + 1;
  }
  (d.store ? t.write_bytes : t.read_bytes) += row_bytes * d.rows;
  (d.store ? t.write_bus_bytes : t.read_bus_bytes) += bus * npu.bus_bytes;
  if (info.spill) (d.store ? t.spill_write_bytes : t.spill_read_bytes) += row_bytes * d.rows;
}

bool same(const Traffic &x, const Traffic &y) {
  return x.read_bytes == y.read_bytes && x.write_bytes == y.write_bytes && x.read_bus_bytes == y.read_bus_bytes &&
         x.write_bus_bytes == y.write_bus_bytes && x.spill_read_bytes == y.spill_read_bytes &&
         x.spill_write_bytes == y.spill_write_bytes;
}

} // namespace

std::string verify_stream(const CompiledLayer &compiled, const NpuConfig &npu) {
  if (std::string problem = check_bindings(compiled, npu); !problem.empty()) return problem;
  if (compiled.info.size() != compiled.stream.size())
    return fmt::format("{} commands have {} entries of information", compiled.stream.size(), compiled.info.size());
  isa::Limits limits;
  limits.lanes = npu.lanes();
  limits.spm_rows = npu.spm_rows();
  limits.cores = npu.cores;
  limits.semaphores = npu.semaphores;
  limits.dram_size = compiled.dram_bytes;

  SyncReplay sync(npu);
  HazardReplay hazards(npu);
  ContentReplay content(compiled, npu);
  std::array<Traffic, kTensorCount> traffic{};
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    const isa::Command &command = compiled.stream[i];
    const isa::ErrorCode error = isa::check_command(command, limits);
    if (error != isa::ErrorCode::NONE)
      return fmt::format("command {}: the hardware would refuse it with error code {}", i,
                         static_cast<unsigned>(error));
    const isa::Decoded decoded = *isa::decode(command);
    for (const std::string &problem : {sync.step(decoded), hazards.step(i, decoded, sync), content.step(decoded, sync)})
      if (!problem.empty()) return fmt::format("command {}: {}", i, problem);
    if (const auto *d = std::get_if<isa::DmaCommand>(&decoded.op)) count(*d, compiled.info[i], npu, traffic);
  }
  for (const std::string &problem : {sync.finish(), content.finish()})
    if (!problem.empty()) return problem;
  for (std::size_t t = 0; t < kTensorCount; ++t)
    if (!same(traffic[t], compiled.traffic[t]))
      return fmt::format("the commands' traffic of {} differs from the layer's", to_string(static_cast<Tensor>(t)));
  return {};
}

} // namespace gradweave::compiler
