#include "compiler/back/fused_layers.hpp"

#include "compiler/depthwise/fused/choose_layout.hpp"
#include "compiler/depthwise/fused/fused_cycles.hpp"
#include "compiler/depthwise/fused/fused_section.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace gradweave::compiler {
namespace {

using depthwise::FusedLayout;

constexpr std::size_t kLongest = 10; ///< layers of a section

/// Pixels of what a layer reads, and channels.
Extent read_by(const Layer &l) {
  return l.vector ? Extent{std::uint64_t{l.conv->batch} * l.conv->height * l.conv->width, l.conv->channels}
                  : Extent{l.m, l.k};
}

/// Whether what layer `i` reads is Y of the one before it, which nobody else reads.
bool is_linked(const std::vector<Layer> &layers, std::size_t i) {
  const Layer &from = layers[i - 1], &to = layers[i];
  if (to.input.empty() || to.input != from.name || (to.vector && from.vector)) return false;
  const bool as_it_is = to.vector || !to.conv || to.conv->is_pointwise();
  const Extent read = read_by(to);
  if (!as_it_is || read.rows != from.m || read.cols != std::uint64_t{from.groups} * from.n) return false;
  return std::count_if(layers.begin(), layers.end(), [&](const Layer &l) { return l.input == from.name; }) == 1 &&
         std::none_of(layers.begin(), layers.end(), [&](const Layer &l) { return l.x_of == to.name; });
}

std::vector<Layer> chain_of(const std::vector<Layer> &layers, const LayerRange &range) {
  return {layers.begin() + static_cast<std::ptrdiff_t>(range.first),
          layers.begin() + static_cast<std::ptrdiff_t>(range.end)};
}

/// Where to cut a run of linked layers: the fastest way to compute the first so many of them.
class Cutter {
public:
  Cutter(const std::vector<Layer> &layers, const LayerRange &run, const VectorRoom &room)
      : layers_(layers), run_(run), room_(room) {}

  /// Sections of several layers.
  std::vector<LayerRange> cut() const {
    std::vector<double> cycles(run_.size() + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> from(run_.size() + 1, 0);
    cycles[0] = 0;
    for (std::size_t end = 1; end <= run_.size(); ++end)
      for (std::size_t first = end > kLongest ? end - kLongest : 0; first < end; ++first)
        if (const double all = cycles[first] + section({run_.first + first, run_.first + end}); all < cycles[end]) {
          cycles[end] = all;
          from[end] = first;
        }
    std::vector<LayerRange> sections;
    for (std::size_t end = run_.size(); end > 0; end = from[end])
      if (end - from[end] > 1) sections.push_back({run_.first + from[end], run_.first + end});
    return sections;
  }

private:
  double section(const LayerRange &range) const {
    if (range.size() == 1) return depthwise::unfused_cycles(layers_[range.first], room_.npu);
    const std::vector<Layer> chain = chain_of(layers_, range);
    if (std::none_of(chain.begin(), chain.end(), [](const Layer &l) { return l.vector; }))
      return std::numeric_limits<double>::infinity();
    const std::optional<FusedLayout> layout = depthwise::choose_fused_layout(chain, room_.npu);
    return layout ? layout->cycles : std::numeric_limits<double>::infinity();
  }

  const std::vector<Layer> &layers_;
  LayerRange run_;
  const VectorRoom &room_;
};

} // namespace

void fuse_layers(std::vector<Layer> &layers, const VectorRoom &room) {
  for (std::size_t first = 0; first < layers.size();) {
    LayerRange run{first, first + 1};
    if (depthwise::can_be_fused(layers[first]))
      while (run.end < layers.size() && depthwise::can_be_fused(layers[run.end]) && is_linked(layers, run.end))
        ++run.end;
    for (const LayerRange &section : Cutter(layers, run, room).cut())
      for (std::size_t i = section.first + 1; i < section.end; ++i)
        layers[i].fused = true;
    first = run.end;
  }
}

bool fused_fit(const std::vector<Layer> &layers, const VectorRoom &room) {
  return depthwise::choose_fused_layout(layers, room.npu).has_value();
}

std::shared_ptr<const VectorSection> fused_section(const std::vector<Layer> &layers, const LayerRange &range,
                                                   const Layout &layout, const VectorRoom &room) {
  const auto layer = [&](std::size_t i) { return static_cast<std::uint32_t>(range.first + i); };
  const auto matrix = [&](std::uint32_t of, Tensor tensor) {
    const TensorBinding &b = layout.tensors[static_cast<std::size_t>(layout.place(of, tensor))];
    return FusedMatrix{b.offset, b.pitch};
  };
  const std::vector<Layer> chain = chain_of(layers, range);
  FusedTensors tensors{matrix(layer(0), Tensor::kX), {}, matrix(layer(chain.size() - 1), Tensor::kY)};
  VectorSection section{Tensor::kY, {{layer(0), Tensor::kX}}, {}, {}}; // weights are in memory from the beginning
  for (std::size_t i = 0; i < chain.size(); ++i) {
    tensors.weights.push_back(matrix(layer(i), Tensor::kW));
    section.layers.push_back(layer(i));
  }
  const FusedLayout fused = depthwise::choose_fused_layout(chain, room.npu).value();
  const SectionRoom rows{static_cast<std::uint8_t>(room.first_semaphore + kSectionSemaphores), room.first_row};
  for (FusedPiece &part : fused_pieces(chain, fused, tensors, room.npu, rows)) {
    VectorPiece piece;
    piece.array_cycles = part.array_cycles;
    piece.unit_cycles = part.unit_cycles;
    for (std::size_t i = 0; i < part.commands.size(); ++i) {
      const SectionOperand of{layer(part.uses[i].layer), part.uses[i].tensor};
      CommandInfo info{of.tensor};
      info.layer = of.layer;
      const isa::Decoded command = *isa::decode(part.commands[i]);
      if (const auto *dma = std::get_if<isa::DmaCommand>(&command.op)) {
        const FusedMatrix at = matrix(of.layer, of.tensor);
        info.row = static_cast<std::uint32_t>((dma->dram_addr - at.address) / at.pitch);
        info.rows = dma->rows;
        info.cols = dma->cols;
        count_transfer(*dma, of, room.npu, piece);
      } else if (const auto *g = std::get_if<isa::GemmCommand>(&command.op)) {
        info.rows = g->m;
        info.cols = g->n;
        info.red_n = g->k;
      }
      piece.info.push_back(info);
    }
    piece.commands = std::move(part.commands);
    piece.stored.of = {layer(chain.size() - 1), Tensor::kY};
    section.pieces.push_back(std::move(piece));
  }
  const auto all = [&](const SectionOperand &of) {
    const auto at = static_cast<std::size_t>(layout.place(of.layer, of.tensor));
    return SectionRows{of, 0, layout.tensors[at].rows};
  };
  section.pieces.front().loaded = {all(section.operands.front())};
  section.pieces.back().stored = all(section.pieces.back().stored.of);
  section.pieces.back().stored_rows = section.pieces.back().stored.end;
  return std::make_shared<const VectorSection>(std::move(section));
}

} // namespace gradweave::compiler
