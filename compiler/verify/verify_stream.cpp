// The final check of a compiled layer, from its binary commands and tensor bindings alone.
#include "compiler/verify/operands/operands.hpp"
#include "compiler/verify/verify.hpp"
#include "compiler/verify/verify_content.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {
namespace {

/// Whether a layer's tensors have places that suit them; of a place that layers share, whether it suits all.
std::string check_places(const Compiled &v, std::uint32_t index) {
  for (const Expected &e : expected_tensors(v.layers[index], pass_of(v.layers[index], v.jobs.pass_of(index)))) {
    const std::int32_t place = v.layout.place(index, e.tensor);
    if ((place != Layout::kNone) != e.wanted)
      return fmt::format("tensor {} is {}", to_string(e.tensor),
                         e.wanted ? "not bound" : "bound, which the pass does not use");
    if (place == Layout::kNone) continue;
    if (place < 0 || static_cast<std::size_t>(place) >= v.layout.tensors.size())
      return fmt::format("tensor {} has no place", to_string(e.tensor));
    const TensorBinding &b = v.layout.tensors[static_cast<std::size_t>(place)];
    const bool own = b.layer == index && b.tensor == e.tensor;
    if (b.fp32 != e.fp32 || b.rows != e.rows || b.cols != e.cols || (e.computed && (b.input || !own)) ||
        (!e.computed && own && !b.input))
      return fmt::format("the binding of {} does not describe it", to_string(e.tensor));
  }
  return {};
}

std::string check_layout(const Compiled &v, const NpuConfig &npu) {
  if (v.layout.places.size() != v.layers.size())
    return fmt::format("{} layers have places for the tensors of {}", v.layers.size(), v.layout.places.size());
  std::uint64_t end = 0;
  for (const TensorBinding &b : v.layout.tensors) {
    const std::uint64_t row_bytes = static_cast<std::uint64_t>(b.cols) * (b.fp32 ? 4 : 2);
    const bool dense = b.pitch == row_bytes && v.layers[b.layer].vector && b.cols == 1;
    const bool share_beats = b.pitch == row_bytes && npu.bus_bytes % row_bytes == 0;
    if (b.pitch < row_bytes || (b.pitch % npu.bus_bytes != 0 && !dense && !share_beats) ||
        b.offset % kTensorAlignment != 0 || b.offset < end)
      return fmt::format("the binding of {} does not suit its rows, or overlaps another", to_string(b.tensor));
    end = b.offset + static_cast<std::uint64_t>(b.rows) * b.pitch;
  }
  if (end > v.dram_bytes) return fmt::format("tensors end at {}, beyond the {} bytes of the layer", end, v.dram_bytes);
  for (std::uint32_t i = 0; i < v.layers.size(); ++i)
    if (std::string problem = check_places(v, i); !problem.empty()) return problem;
  return {};
}

/// Adds a transfer to the traffic of the tensor that its info names.
void count(const isa::DmaCommand &d, const CommandInfo &info, const NpuConfig &npu, LayerTraffic &traffic) {
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

std::string verify_stream(const Compiled &compiled, const NpuConfig &npu) {
  if (std::string problem = check_layout(compiled, npu); !problem.empty()) return problem;
  if (compiled.info.size() != compiled.stream.size())
    return fmt::format("{} commands have {} entries of information", compiled.stream.size(), compiled.info.size());
  isa::Limits limits;
  limits.lanes = npu.lanes();
  limits.spm_rows = npu.spm_rows();
  limits.cores = npu.cores;
  limits.semaphores = npu.semaphores;
  limits.vectors = npu.vectors();
  limits.dram_size = compiled.dram_bytes;

  SyncReplay sync(npu);
  HazardReplay hazards(npu);
  ContentReplay content(compiled, npu);
  std::vector<LayerTraffic> traffic(compiled.layers.size());
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    const isa::Command &command = compiled.stream[i];
    const isa::ErrorCode error = isa::check_command(command, limits);
    if (error != isa::ErrorCode::NONE)
      return fmt::format("command {}: the hardware would refuse it with error code {}", i,
                         static_cast<unsigned>(error));
    const isa::Decoded decoded = *isa::decode(command);
    for (const std::string &problem : {sync.step(decoded), hazards.step(i, decoded, sync), content.step(decoded, sync)})
      if (!problem.empty()) return fmt::format("command {}: {}", i, problem);
    if (const auto *d = std::get_if<isa::DmaCommand>(&decoded.op))
      count(*d, compiled.info[i], npu, traffic.at(compiled.info[i].layer));
  }
  for (const std::string &problem : {sync.finish(), content.finish()})
    if (!problem.empty()) return problem;
  for (std::size_t layer = 0; layer < traffic.size(); ++layer)
    for (std::size_t t = 0; t < kTensorCount; ++t)
      if (!same(traffic[layer][t], compiled.traffic[layer][t]))
        return fmt::format("the commands' traffic of {} differs from the layer's", to_string(static_cast<Tensor>(t)));
  return {};
}

} // namespace gradweave::compiler
