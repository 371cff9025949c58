#include "compiler/back/vector_layer.hpp"

#include "compiler/depthwise/depthwise.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/request/error.hpp"
#include "compiler/vector_stream/job_commands.hpp"
#include "compiler/vector_stream/section.hpp"
#include "compiler/verify/verify_hazards.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace gradweave::compiler {
namespace {

/// A product, and whose values are whose (DepthwiseWork).
struct VectorProduct {
  DepthwiseProduct product;
  std::array<Tensor, 3> values;
};
constexpr VectorProduct kVectorProducts[] = {{DepthwiseProduct::kY, {Tensor::kX, Tensor::kW, Tensor::kY}},
                                             {DepthwiseProduct::kDX, {Tensor::kDY, Tensor::kW, Tensor::kDX}},
                                             {DepthwiseProduct::kDW, {Tensor::kX, Tensor::kDY, Tensor::kDW}}};

std::vector<VectorProduct> products_of(const Layer &layer, Pass pass) {
  std::vector<VectorProduct> products;
  for (const VectorProduct &p : kVectorProducts)
    if (is_computed(layer, p.values[2], pass)) products.push_back(p);
  return products;
}

DepthwiseWork work_of(const Layer &layer, const VectorProduct &p) {
  const bool fp32 = p.product == DepthwiseProduct::kY ? layer.y_fp32 : layer.dx_fp32;
  return {p.product, *layer.conv, p.product != DepthwiseProduct::kDW && fp32};
}

/// The tensors of a pass, rows side by side.
Layout dense_layout(const Layer &layer, Pass pass, const NpuConfig &npu) {
  Layout layout = make_layout({layer}, pass, npu);
  for (TensorBinding &b : layout.tensors)
    b.pitch = b.cols * (b.fp32 ? 4 : 2);
  return layout;
}

class VectorLayer {
public:
  VectorLayer(const Layer &layer, Pass pass, const Machine &npu) : npu_(npu), products_(products_of(layer, pass)) {
    compiled_.layers = {layer};
    compiled_.layers.front().image = true;
    compiled_.jobs = pass;
    compiled_.layout = dense_layout(compiled_.layer(), pass, npu);
    compiled_.dram_bytes = compiled_.layout.bytes;
    compiled_.reductions.resize(1);
    compiled_.traffic.resize(1);
    compiled_.tilings = {"vector unit"};
  }

  Compiled run() {
    for (const VectorProduct &p : products_)
      add(p);
    for (std::size_t i = 0; i < compiled_.stream.size(); ++i)
      if (const auto *dma = std::get_if<isa::DmaCommand>(&isa::decode(compiled_.stream[i])->op)) count(*dma, i);
    verify();
    const timing::RunResult times = timing::run(npu_, compiled_.stream);
    if (!times.ok()) fail("the timing model's run does not end");
    compiled_.predicted_cycles = times.cycles();
    compiled_.accesses = times.accesses;
    set_bounds();
    return std::move(compiled_);
  }

private:
  [[noreturn]] void fail(const std::string &problem) const {
    throw CompilerDefect(fmt::format("layer '{}': defect in the compiler, found in commands of the vector unit: {}; "
                                     "please report it",
                                     compiled_.layer().name, problem));
  }

  const TensorBinding &binding(Tensor t) const {
    return compiled_.layout.tensors[static_cast<std::size_t>(compiled_.layout.place(0, t))];
  }

  void add(const VectorProduct &p) {
    const Layer &layer = compiled_.layer();
    compiled_.useful_macs += std::uint64_t{layer.m} * layer.k * layer.n * layer.groups;
    if (!compiled_.stream.empty()) add_barrier(p.values[2]);
    std::vector<std::uint64_t> addresses;
    for (const Tensor t : p.values)
      addresses.push_back(binding(t).offset);
    for (const isa::Command &command :
         section_commands(depthwise_areas(work_of(layer, p), npu_).value(), addresses, npu_, 0)) {
      CommandInfo info{p.values[2]};
      if (const auto decoded = isa::decode(command); const auto *dma = std::get_if<isa::DmaCommand>(&decoded->op))
        info = moved_by(*dma, p);
      put(command, info);
    }
  }

  void put(const isa::Command &command, const CommandInfo &info) {
    compiled_.stream.push_back(command);
    compiled_.info.push_back(info);
  }

  /// What the first product stores the second one may read: all of it is in memory.
  void add_barrier(Tensor next) {
    const std::uint8_t token = barrier_semaphore(npu_);
    isa::Decoded stored, load;
    stored.op = isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::STORE)};
    stored.sync.posts[0] = token;
    load.op = isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::LOAD)};
    load.sync.waits[0] = {token, 1};
    put(isa::encode(stored), CommandInfo{next});
    put(isa::encode(load), CommandInfo{next});
  }

  CommandInfo moved_by(const isa::DmaCommand &dma, const VectorProduct &p) const {
    const auto whose = std::find_if(p.values.begin(), p.values.end(), [&](Tensor t) {
      const TensorBinding &b = binding(t);
      return dma.dram_addr >= b.offset && dma.dram_addr < b.offset + std::uint64_t{b.rows} * b.pitch;
    });
    const TensorBinding &b = binding(*whose);
    const std::uint64_t at = dma.dram_addr - b.offset;
    CommandInfo info{*whose};
    info.row = static_cast<std::uint32_t>(at / b.pitch);
    info.col = static_cast<std::uint32_t>(at % b.pitch / (b.fp32 ? 4 : 2));
    const std::uint32_t rows_of_a_row = std::max(1U, dma.cols / b.cols); // a tile's row may have several of the tensor
    info.rows = dma.rows * rows_of_a_row;
    info.cols = std::min(dma.cols, b.cols);
    return info;
  }

  void count(const isa::DmaCommand &dma, std::size_t command) {
    Traffic &t = compiled_.traffic[0][static_cast<std::size_t>(compiled_.info[command].tensor)];
    const std::uint64_t bytes = dma.cols * (dma.fp32 ? 4ULL : 2ULL);
    for (std::uint32_t row = 0; row < dma.rows; ++row) {
      const std::uint64_t first = dma.dram_addr + std::uint64_t{row} * dma.pitch;
      const std::uint64_t beats = (first + bytes - 1) / npu_.bus_bytes - first / npu_.bus_bytes + 1;
      (dma.store ? t.write_bytes : t.read_bytes) += bytes;
      (dma.store ? t.write_bus_bytes : t.read_bus_bytes) += beats * npu_.bus_bytes;
    }
  }

  void verify() const {
    SyncReplay sync(npu_);
    HazardReplay hazards(npu_);
    for (std::size_t i = 0; i < compiled_.stream.size(); ++i) {
      const isa::Decoded d = *isa::decode(compiled_.stream[i]);
      for (const std::string &problem : {sync.step(d), hazards.step(i, d, sync)})
        if (!problem.empty()) fail(fmt::format("command {}: {}", i, problem));
    }
    if (const std::string problem = sync.finish(); !problem.empty()) fail(problem);
  }

  /// Each multiply-add is a lane's, and each tensor moves once.
  void set_bounds() {
    Bounds &b = compiled_.bounds;
    b.compute_cycles = divide_up(compiled_.useful_macs, std::uint64_t{npu_.lanes()} * npu_.vector_groups);
    std::uint64_t bytes = 0;
    for (const TensorBinding &t : compiled_.layout.tensors)
      if (t.input || t.result) bytes += std::uint64_t{t.rows} * t.pitch;
    b.traffic_cycles = divide_up(bytes * npu_.memory.bytes_den, npu_.memory.bytes_num);
    b.run_cycles = std::max(b.compute_cycles, b.traffic_cycles);
  }

  const Machine &npu_;
  std::vector<VectorProduct> products_;
  Compiled compiled_;
};

} // namespace

bool takes_vector_unit(const Layer &layer, Pass pass, const NpuConfig &npu) {
  if (npu.vectors() == 0 || !layer.conv || layer.conv->group_channels() != 1 || layer.conv->n() != 1) return false;
  if (!can_read_image(*layer.conv)) return false;
  const std::vector<VectorProduct> products = products_of(layer, pass);
  return std::all_of(products.begin(), products.end(),
                     [&](const VectorProduct &p) { return depthwise_areas(work_of(layer, p), npu).has_value(); });
}

Compiled compile_vector_layer(const Layer &layer, Pass pass, const Machine &npu) {
  return VectorLayer(layer, pass, npu).run();
}

} // namespace gradweave::compiler
