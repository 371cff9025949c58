#include "compiler/back/vector_section.hpp"

#include "compiler/depthwise/depthwise.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/dram_bytes.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/vector_stream/section.hpp"

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

const VectorProduct &product_of(Tensor result) {
  return *std::find_if(std::begin(kVectorProducts), std::end(kVectorProducts),
                       [&](const VectorProduct &p) { return p.values[2] == result; });
}

DepthwiseWork work_of(const Layer &layer, const VectorProduct &p) {
  const bool fp32 = p.product == DepthwiseProduct::kY ? layer.y_fp32 : layer.dx_fp32;
  return {p.product, *layer.conv, p.product != DepthwiseProduct::kDW && fp32};
}

std::uint32_t element_bytes(const TensorBinding &b) { return b.fp32 ? 4 : 2; }

/// The commands of a product with what they are for.
class SectionWriter {
public:
  SectionWriter(const Layer &layer, std::uint32_t index, const VectorProduct &product, const Layout &layout,
                const VectorRoom &room)
      : layer_(layer), index_(index), product_(product), layout_(layout), room_(room) {}

  VectorSection run() const {
    DepthwiseWork work = work_of(layer_, product_);
    const TensorBinding &image = binding(product_.values[0]);
    work.pitch = image.pitch / element_bytes(image);
    std::vector<std::uint64_t> addresses;
    for (const Tensor t : product_.values)
      addresses.push_back(binding(t).offset);
    VectorSection section{
        product_.values[2], {{index_, product_.values[0]}, {index_, product_.values[1]}}, {index_}, {}};
    const auto pairs = static_cast<std::uint8_t>(room_.first_semaphore + kSectionSemaphores);
    std::vector<std::vector<isa::Command>> pieces =
        depthwise_pieces(work, addresses, room_.npu, {{room_.first_semaphore, room_.first_row}, pairs}).value();
    for (std::vector<isa::Command> &commands : pieces) {
      VectorPiece piece;
      piece.stored.of = {index_, section.result};
      for (const isa::Command &command : commands)
        piece.info.push_back(info_of(*isa::decode(command), piece));
      piece.commands = std::move(commands);
      section.pieces.push_back(std::move(piece));
    }
    return section;
  }

private:
  const TensorBinding &binding(Tensor t) const {
    return layout_.tensors[static_cast<std::size_t>(layout_.place(index_, t))];
  }

  CommandInfo info_of(const isa::Decoded &command, VectorPiece &piece) const {
    CommandInfo info{product_.values[2]};
    if (const auto *dma = std::get_if<isa::DmaCommand>(&command.op)) {
      info = moved_by(*dma);
      add_rows(*dma, info, piece);
      count_transfer(*dma, {index_, info.tensor}, room_.npu, piece);
    } else if (const auto *v = std::get_if<isa::ConvCommand>(&command.op)) {
      info.rows = v->product.m;
      info.cols = v->product.n;
      info.red_n = v->product.k;
      piece.array_cycles += std::max(v->product.k, shortest_block(room_.npu));
    }
    info.layer = index_;
    return info;
  }

  /// What a transfer moves, from its first row to its last.
  void add_rows(const isa::DmaCommand &dma, const CommandInfo &info, VectorPiece &piece) const {
    const std::uint32_t apart = dma.rows > 1 ? (dma.rows - 1) * (dma.pitch / binding(info.tensor).pitch) : 0;
    SectionRows rows{{index_, info.tensor}, info.row, info.row + apart + info.rows / dma.rows};
    if (dma.store) {
      extend(piece.stored, rows);
      piece.stored_rows += info.rows;
    } else if (const auto same = std::find_if(piece.loaded.begin(), piece.loaded.end(),
                                              [&](const SectionRows &r) { return r.of == rows.of; });
               same != piece.loaded.end()) {
      extend(*same, rows);
    } else {
      piece.loaded.push_back(rows);
    }
  }
  static void extend(SectionRows &all, const SectionRows &rows) {
    const bool none = all.first == all.end;
    all.first = none ? rows.first : std::min(all.first, rows.first);
    all.end = std::max(all.end, rows.end);
  }

  CommandInfo moved_by(const isa::DmaCommand &dma) const {
    const auto whose = std::find_if(product_.values.begin(), product_.values.end(), [&](Tensor t) {
      const TensorBinding &b = binding(t);
      return dma.dram_addr >= b.offset && dma.dram_addr < b.offset + std::uint64_t{b.rows} * b.pitch;
    });
    const TensorBinding &b = binding(*whose);
    const std::uint64_t at = dma.dram_addr - b.offset;
    CommandInfo info{*whose};
    info.row = static_cast<std::uint32_t>(at / b.pitch);
    info.col = static_cast<std::uint32_t>(at % b.pitch / element_bytes(b));
    const std::uint32_t rows_of_a_row = // a tile's row may have several of the tensor
        std::max(1U, dma.cols / (b.pitch / element_bytes(b)));
    info.rows = dma.rows * rows_of_a_row;
    info.cols = std::min(dma.cols, b.cols);
    return info;
  }

  const Layer &layer_;
  std::uint32_t index_;
  const VectorProduct &product_;
  const Layout &layout_;
  const VectorRoom &room_;
};

/// Whether all results of the pass fit, with so many elements from pixel to pixel.
bool all_fit(const Layer &layer, Pass pass, const NpuConfig &npu, std::uint32_t pitch) {
  if (npu.vectors() == 0 || !layer.conv || layer.conv->group_channels() != 1 || layer.conv->n() != 1) return false;
  if (!can_read_image(*layer.conv)) return false;
  const std::vector<Tensor> results = vector_results(layer, pass);
  return std::all_of(results.begin(), results.end(), [&](Tensor result) {
    DepthwiseWork work = work_of(layer, product_of(result));
    work.pitch = pitch;
    return has_depthwise_pieces(work, npu);
  });
}

} // namespace

void count_transfer(const isa::DmaCommand &dma, const SectionOperand &of, const Machine &npu, VectorPiece &piece) {
  Traffic &t = piece.traffic[of.layer][static_cast<std::size_t>(of.tensor)];
  const std::uint64_t bytes = dma.cols * (dma.fp32 ? 4ULL : 2ULL);
  for (std::uint32_t row = 0; row < dma.rows; ++row) {
    const std::uint64_t first = dma.dram_addr + std::uint64_t{row} * dma.pitch;
    (dma.store ? t.write_bytes : t.read_bytes) += bytes;
    (dma.store ? t.write_bus_bytes : t.read_bus_bytes) += beat_bytes(first, bytes, npu.bus_bytes);
    piece.dram_bytes += beat_bytes(first, bytes, access_bytes(npu));
  }
}

std::vector<Tensor> vector_results(const Layer &layer, Pass pass) {
  std::vector<Tensor> results;
  for (const VectorProduct &p : kVectorProducts)
    if (is_computed(layer, p.values[2], pass)) results.push_back(p.values[2]);
  return results;
}

bool takes_vector_unit(const Layer &layer, Pass pass, const NpuConfig &npu) { return all_fit(layer, pass, npu, 0); }

bool takes_vector_unit(const Layer &layer, Pass pass, const VectorRoom &room) {
  if (!layer.conv || layer.y_fp32 || layer.dx_fp32) return false; // fp32 pixels would be as far apart as others are not
  const std::uint64_t bytes = round_up(layer.conv->channels * 2ULL, room.npu.bus_bytes);
  return all_fit(layer, pass, room.npu, static_cast<std::uint32_t>(bytes / 2)) &&
         (!may_share_beats(*layer.conv) ||
          all_fit(layer, pass, room.npu, pixel_bytes(layer.conv->channels, room.npu) / 2));
}

Layer on_vector_unit(Layer layer) {
  layer.vector = layer.image = true;
  layer.packed = layer.forward_image = false;
  return layer;
}

std::shared_ptr<const VectorSection> vector_section(const Layer &layer, std::uint32_t index, Tensor result,
                                                    const Layout &layout, const VectorRoom &room) {
  return std::make_shared<const VectorSection>(SectionWriter(layer, index, product_of(result), layout, room).run());
}

std::vector<TileProduct> section_products(const VectorSection &section, std::uint32_t index) {
  std::vector<TileProduct> products(section.pieces.size());
  for (std::size_t i = 0; i < products.size(); ++i) {
    products[i].result = section.result;
    products[i].layer = index;
    products[i].m = static_cast<std::uint32_t>(i);
    products[i].vector = true;
  }
  return products;
}

} // namespace gradweave::compiler
