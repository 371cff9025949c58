#include "compiler/cost/bounds.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/cut.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/request/error.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gradweave::compiler {
namespace {

/// Elements that `macs` multiply-adds of one matrix product must move between memory and a store of `capacity`
/// elements: T. M. Smith et al., "A tight I/O lower bound for matrix multiplication", 2019 (arXiv:1702.02017),
/// theorem 1. The pair of products that share dY moves no less than one product of as many multiply-adds:
/// docs/compiler.md has the proof.
double least_moves(double macs, double capacity) { return 2 * macs / std::sqrt(capacity) - 2 * capacity; }

double io_bytes(const Layer &layer, Pass pass, const NpuConfig &npu) {
  if (layer.image) return 0; // taps share elements of the image, which the theorem counts apart
  const double macs = static_cast<double>(layer.m) * layer.k * layer.n;
  const double capacity = static_cast<double>(npu.spm_bytes) / 2; // all of it bf16, the smaller of the two types
  double elements = 0;
  if (pass != Pass::kBackward) elements += std::max(0.0, least_moves(macs, capacity));
  if (pass != Pass::kForward)
    elements += std::max(0.0, least_moves((computes_dx(layer, pass) ? 2 : 1) * macs, capacity));
  return 2 * elements * layer.groups;
}

/// Sum of f(lines) over tiles of rows of a phase at least, however many rows each has: a tile's lines have the gaps of
/// the grid between its rows.
template <typename F> std::uint64_t least_of_rows(const Layer &layer, const Phase &phase, F f) {
  const std::uint64_t rows = std::uint64_t{layer.conv->batch} * phase.height, width = line_width(layer);
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint64_t tile = 1; tile <= rows; ++tile)
    least = std::min(least, divide_up(rows * f((tile - 1) * width + phase.width), tile));
  return least;
}

/// Array steps of a result of a layer that reads images of another size than Y's, or with a stride: the phases of dX
/// are products of their own with the taps that meet them.
std::uint64_t grid_steps(const Layer &layer, Tensor result, const NpuConfig &npu) {
  const std::uint32_t shortest = shortest_block(npu), channels = kernel_channels(layer);
  const std::vector<Phase> phases = phases_of(layer, result);
  if (takes_one_tap(result))
    return taps_of(layer) * block_count(channels, layer.n, npu) *
           least_of_rows(layer, phases.front(),
                         [&](std::uint64_t lines) { return std::max<std::uint64_t>(lines, shortest); });
  std::uint64_t steps = 0;
  for (const Phase &phase : phases) {
    const bool turned = turns_kernel(result);
    const std::uint32_t terms =
        turned ? terms_at(layer, result, phase.first, {0, layer.n * taps_of(layer)}).size : layer.k;
    steps += least_of_rows(layer, phase, [&](std::uint64_t lines) { return divide_up(lines, npu.rows); }) *
             divide_up(turned ? channels : layer.n, npu.cols) * std::max(terms, shortest);
  }
  return steps;
}

/// Of the rows of an image, or its columns, those that some tap reads.
std::uint64_t lines_under_taps(std::uint32_t size, std::uint32_t results, std::uint32_t taps, std::uint32_t stride,
                               std::uint32_t dilation, std::uint32_t before) {
  std::vector<bool> read(size, false);
  for (std::uint32_t result = 0; result < results; ++result)
    for (std::uint32_t tap = 0; tap < taps; ++tap)
      if (const std::int64_t at = std::int64_t{result} * stride + std::int64_t{tap} * dilation - before;
          at >= 0 && at < std::int64_t{size})
        read[static_cast<std::size_t>(at)] = true;
  return static_cast<std::uint64_t>(std::count(read.begin(), read.end(), true));
}

/// Bytes of the image's pixels that the layer reads, if there are others: behind the last stride, or between taps that
/// are far apart. A row of a packed image has several.
std::optional<std::uint64_t> bytes_of_some_pixels(const Layer &layer) {
  if (!layer.image) return std::nullopt;
  const Convolution &c = *layer.conv;
  const std::uint64_t read =
      c.batch *
      lines_under_taps(c.height, c.out_height(), c.kernel_height, c.stride_height, c.dilation_height, c.pad_top) *
      lines_under_taps(c.width, c.out_width(), c.kernel_width, c.stride_width, c.dilation_width, c.pad_left);
  if (read == std::uint64_t{c.batch} * c.height * c.width) return std::nullopt;
  return read * c.channels * 2;
}

/// Of each layer.
using SomePixels = std::vector<std::optional<std::uint64_t>>;

/// LOADs and STOREs of images of such a layer at least: a row at a time where the grid has gaps, or phases.
std::uint64_t pixel_moves(const Layer &layer, Pass pass, bool reads_all_of_x) {
  if (!layer.image || keeps_size(*layer.conv)) return 0;
  const Convolution &conv = *layer.conv;
  std::uint64_t moves = 0;
  if (reads_all_of_x) moves += run_count(pixel_rect(layer, Tensor::kX, {0, image_form(layer).rows(conv)}, {0, 1}));
  for (const Tensor tensor : {Tensor::kY, Tensor::kDY})
    if (used_in(tensor, pass)) moves += run_count(pixel_rect(layer, tensor, {0, conv.m()}, {0, 1}));
  if (computes_dx(layer, pass))
    for (const Phase &phase : phases_of(layer, Tensor::kDX))
      moves += run_count(gradient_rect(layer, {phase.first, conv.batch * phase.height * phase.width}, {0, 1}));
  return moves * layer.groups;
}

/// Array steps of the layer's products: however a result is cut into tiles, it takes no fewer blocks than the array's
/// size asks for, and each of its elements all terms of its reduction.
std::uint64_t array_steps(const Layer &layer, Pass pass, const NpuConfig &npu) {
  const auto product = [&](Tensor result) {
    if (layer.image && !keeps_size(*layer.conv)) return grid_steps(layer, result, npu);
    const Contraction &c = contraction_of(result);
    const auto extent = [&](Dim dim) { return extent_of(layer, result, dim); };
    std::uint64_t blocks = block_count(extent(c.row), extent(c.col), npu);
    if (layer.image && takes_one_tap(result)) // a block has results of one tap
      blocks = taps_of(layer) * block_count(tap_channels(layer, result), extent(c.col), npu);
    return blocks * std::max(extent(c.red), shortest_block(npu));
  };
  std::uint64_t steps = 0;
  for (const Tensor result : result_tensors())
    if (is_computed(layer, result, pass)) steps += product(result);
  return steps;
}

/// Cycles of the array's steps, and of the vector unit's lanes.
struct LeastWork {
  std::uint64_t array = 0, lanes = 0;
};

/// Products of dW of a layer that is the vector unit's: one has as many channels as the array has rows and columns and
/// a tap, or all channels and as many taps of a row of the kernel as then have rows.
std::uint64_t section_products(const Layer &layer, const NpuConfig &npu) {
  const std::uint64_t blocks = divide_up(layer.groups, std::min(npu.rows, npu.cols));
  const std::uint64_t side = blocks > 1 ? 1 : npu.rows / layer.groups;
  return blocks * layer.conv->kernel_height * divide_up(layer.conv->kernel_width, side);
}

/// Steps of such a layer: of the lanes for Y and dX, a multiply-add each, and of the array for dW.
LeastWork section_steps(const Layer &layer, Pass pass, const NpuConfig &npu) {
  LeastWork steps;
  for (const Tensor result : result_tensors())
    if (is_computed(layer, result, pass)) {
      if (result == Tensor::kDW)
        steps.array += layer.m * section_products(layer, npu);
      else
        steps.lanes += std::uint64_t{layer.m} * layer.k * layer.groups;
    }
  return steps;
}

isa::Command row_transfer(bool store, std::uint32_t spm_row, std::uint32_t cols, isa::Sync sync) {
  isa::DmaCommand dma;
  dma.store = store;
  dma.pitch = (cols + 31) / 32 * 64;
  dma.rows = 1;
  dma.cols = cols;
  dma.spm.row = spm_row;
  dma.spm.pstride = 1;
  return isa::encode({dma, sync, 0});
}

/// The times of the shortest run that computes anything: a row of `cols` elements and one element loaded, one of the
/// row multiplied by it, the product stored.
timing::RunResult shortest_run(const Machine &npu, std::uint32_t cols) {
  constexpr std::uint8_t kLoaded = 0, kComputed = 1;
  isa::Sync loaded, compute, computed;
  loaded.posts[0] = kLoaded;
  compute.waits[0] = {kLoaded, 2};
  compute.posts[0] = kComputed;
  computed.waits[0] = {kComputed, 1};
  isa::GemmCommand gemm;
  gemm.m = gemm.n = gemm.k = 1;
  gemm.out_bf16 = true;
  gemm.b.row = 1;
  gemm.cout.row = 2;
  Machine roomy = npu; // bounds are asked for before it is known whether anything fits
  roomy.spm_bytes = std::max(npu.spm_bytes, std::uint64_t{64} * npu.lanes() * npu.spm_banks);
  timing::RunResult run = timing::run(roomy, {row_transfer(false, 0, cols, loaded), row_transfer(false, 1, 1, loaded),
                                              isa::encode({gemm, compute, 0}), row_transfer(true, 2, 1, computed)});
  if (!run.ok()) throw CompilerDefect("the NPU refuses the shortest run that bounds refer to");
  return run;
}

/// Cycles of a run with what cannot overlap its longest part. Commands are fetched and first operands loaded before all
/// array steps, and the last result is drained and stored after them; a GEMM and that STORE follow the LOAD of the last
/// operand; memory serves nothing before the first LOAD and answers the last access after its latency. Of layers on the
/// vector unit, whose commands a run may end with, it is only known that lanes and memory take their time.
std::uint64_t run_cycles(const Bounds &bounds, const LeastWork &work, std::uint64_t read_cycles, const Machine &npu) {
  const auto transfer = [&](std::uint64_t bytes) {
    return divide_up(round_up(bytes, access_bytes(npu)) * npu.memory.bytes_den, npu.memory.bytes_num);
  };
  const timing::RunResult shortest = shortest_run(npu, 1);
  const std::uint64_t element = transfer(1);
  // The DRAM serves in fractions of cycles: of fetch, LOAD and STORE each may end a cycle earlier at another phase.
  constexpr std::uint64_t kPhases = 3;
  const std::uint64_t least = shortest.cycles() - kPhases;
  const std::uint64_t around_array = least - shortest_block(npu);
  // Between two LOADs of an element memory rests, which it does not while a longer one is at work.
  const std::uint32_t cols = std::min(8 * access_bytes(npu), 16 * npu.lanes());
  const std::uint64_t behind_a_row = shortest_run(npu, cols).cycles() - kPhases - transfer(2 * cols) - element;
  const std::uint64_t around_reads = std::min(least - 2 * element, behind_a_row);
  const std::uint64_t around_traffic = shortest.commands.front().start + npu.memory.latency_cycles;
  const std::uint64_t moving = around_traffic + std::max(bounds.traffic_cycles, bounds.io_cycles);
  if (work.lanes > 0) return std::max({work.array > 0 ? around_array + work.array : 0, work.lanes, moving});
  return std::max({around_array + work.array, around_reads + read_cycles, moving});
}

/// A part of tensors that the turn from the forward to the backward pass finds in the scratchpad or not.
struct AtTurn {
  std::uint64_t bytes = 0; ///< of the scratchpad that it takes
  std::uint64_t saved = 0; ///< transferred, if it is there
};

/// The most that `capacity` bytes of scratchpad can save.
std::uint64_t most_saved(std::vector<AtTurn> parts, std::uint64_t capacity) {
  std::sort(parts.begin(), parts.end(), [](const AtTurn &x, const AtTurn &y) {
    return static_cast<double>(x.saved) * static_cast<double>(y.bytes) >
           static_cast<double>(y.saved) * static_cast<double>(x.bytes);
  });
  std::uint64_t saved = 0;
  for (const AtTurn &part : parts) {
    const std::uint64_t fit = std::min(part.bytes, capacity);
    saved += part.bytes == 0 ? 0 : divide_up(part.saved * fit, part.bytes);
    capacity -= fit;
  }
  return saved;
}

/// Bytes that a job's training step moves beside each tensor once. All forward products precede all backward ones, so
/// what both use is loaded once before and once after the turn, and what the one computes for the other is stored and
/// loaded; but for what the scratchpad holds at the turn, which may be all of this job's.
std::uint64_t turn_bytes(const std::vector<Layer> &layers, const SomePixels &some, const JobRange &job,
                         const Layout &layout, const Machine &npu) {
  if (job.pass != Pass::kBoth) return 0;
  std::vector<bool> used(layout.tensors.size(), false); // in the backward pass, and made or used in the forward pass
  for (std::uint32_t i = job.first; i < layers.size() && i < job.end; ++i) {
    const bool split = layers[i].products == Products::kGradients; // the forward pass reads X in another form
    for (const Tensor result : result_tensors()) {
      if (!is_computed(layers[i], result, Pass::kBackward)) continue;
      const Contraction &c = contraction_of(result);
      for (const Tensor operand : {c.a, c.b})
        if (operand != c.shared && (operand != Tensor::kX || (!some[i] && !split)))
          used[static_cast<std::size_t>(layout.place(i, operand))] = true;
    }
  }
  std::uint64_t moved = 0;
  std::vector<AtTurn> parts;
  for (std::size_t i = 0; i < layout.tensors.size(); ++i) {
    if (!used[i]) continue;
    const TensorBinding &t = layout.tensors[i];
    const std::uint64_t times = t.input || t.result ? 1 : 2; // an intermediate is stored, too
    const bool dense = t.pitch % npu.bus_bytes != 0;         // one run of bytes
    const std::uint64_t rows = dense ? 1 : t.rows, access = access_bytes(npu);
    const std::uint64_t row = std::uint64_t{t.cols} * (t.fp32 ? 4 : 2) * (dense ? t.rows : 1);
    const std::uint64_t last = row % access; // of a row that ends within an access, these few bytes save all of it
    moved += times * rows * round_up(row, access);
    parts.push_back({rows * (row - last), times * rows * (row - last)});
    if (last > 0) parts.push_back({rows * last, times * rows * access});
  }
  const std::uint64_t accumulators = std::uint64_t{2} * npu.rows * npu.cols * 4 * npu.cores;
  return moved - std::min(moved, most_saved(std::move(parts), npu.spm_bytes + accumulators));
}

/// Bytes of whole accesses of the DRAM, those of LOADs, and beats on the ports.
struct LeastTraffic {
  std::uint64_t bytes = 0, read_bytes = 0, load_beats = 0, store_beats = 0;
};

/// Of all tensors that come from outside or stay, each moved once.
LeastTraffic least_traffic(const Layout &layout, const SomePixels &some, const Machine &npu) {
  LeastTraffic all;
  for (const TensorBinding &t : layout.tensors) {
    if (!t.input && !t.result) continue;
    const std::uint64_t row = std::uint64_t{t.cols} * (t.fp32 ? 4 : 2);
    const bool dense = t.pitch % npu.bus_bytes != 0; // one run of bytes
    const std::uint64_t rows = dense ? 1 : t.rows, run = dense ? row * t.rows : row;
    std::uint64_t moved = rows * round_up(run, access_bytes(npu)), beats = rows * divide_up(run, npu.bus_bytes);
    if (const auto pixels = t.input && t.tensor == Tensor::kX ? some[t.layer] : std::nullopt) {
      moved = *pixels;
      beats = 0; // which of them share one is not known
    }
    all.bytes += moved;
    if (t.input) all.read_bytes += moved;
    (t.input ? all.load_beats : all.store_beats) += beats;
  }
  return all;
}

} // namespace

Bounds lower_bounds(const std::vector<Layer> &layers, const Jobs &jobs, const Layout &layout, const Machine &npu) {
  std::uint64_t steps = 0, lane_steps = 0;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i].vector) {
      const LeastWork of_section = section_steps(layers[i], jobs.pass_of(i), npu);
      steps += of_section.array;
      lane_steps += of_section.lanes;
    } else {
      steps += layers[i].groups * array_steps(layers[i], jobs.pass_of(i), npu);
    }
  SomePixels some;
  for (const Layer &layer : layers)
    some.push_back(bytes_of_some_pixels(layer));
  LeastTraffic traffic = least_traffic(layout, some, npu);
  const auto cycles = [&](std::uint64_t moved) {
    return divide_up(moved * npu.memory.bytes_den, npu.memory.bytes_num);
  };
  for (const JobRange &job : jobs.ranges())
    traffic.bytes += turn_bytes(layers, some, job, layout, npu);
  const Pass pass = pass_of(layers.front(), jobs.pass_of(0));
  const bool one_of_array = layers.size() == 1 && !layers.front().vector;
  if (one_of_array) // commands, too
    traffic.bytes += pixel_moves(layers.front(), pass, !some.front()) * isa::kCommandBytes;
  LeastWork work;
  work.array = divide_up(steps, npu.cores);
  if (lane_steps > 0) work.lanes = divide_up(lane_steps, std::uint64_t{npu.lanes()} * npu.vector_groups);
  Bounds bounds;
  bounds.compute_cycles = std::max(work.array, work.lanes);
  bounds.traffic_cycles =
      std::max({cycles(traffic.bytes), traffic.load_beats, traffic.store_beats}); // a port carries a beat a cycle
  constexpr double kMostBytes = 1e15; // of layers that no memory holds, which are refused later
  if (one_of_array)
    bounds.io_cycles = cycles(static_cast<std::uint64_t>(std::min(kMostBytes, io_bytes(layers.front(), pass, npu))));
  bounds.run_cycles = run_cycles(bounds, work, cycles(traffic.read_bytes), npu);
  return bounds;
}

std::uint64_t layer_bound(const Layer &layer, Pass asked, const Machine &npu) {
  std::uint64_t cycles = 0;
  for (const Pass pass : {Pass::kForward, Pass::kBackward})
    if ((asked == Pass::kBoth || asked == pass) && takes_part(layer, pass))
      cycles += lower_bounds({layer}, pass, make_layout({layer}, pass, npu), npu).run_cycles;
  return cycles;
}

} // namespace gradweave::compiler
