#include "train/npu/plan/staging.hpp"

#include "compiler/ir/contraction.hpp"
#include "compiler/vector/copy_program.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "sw_models/vector/recorder.hpp"
#include "train/kernel_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using compiler::copy_program;
using compiler::JobTile;
using compiler::LineOf;
using compiler::MoveJob;
using compiler::OpJobs;
using compiler::VectorJob;

constexpr std::size_t kTensor = 0, kMatrix = 1, kPadded = 2; // OpJobs::values

isa::vector::Program constant_program(float value) {
  vector::Recorder record;
  record.loop();
  const auto constant = vector::Recorder::constant(bits_of_fp32(value));
  record.output(0, record.bor(constant, constant));
  return record.program();
}

/// Runs of elements that follow one another on both sides, row by row.
struct Run {
  std::size_t from = 0, to = 0; ///< first elements
};

class Staging {
public:
  Staging(const PlacedTensor &placed, const compiler::Layer &layer, const graph::Tensor &tensor,
          const TensorPlace &place, const std::pair<std::uint32_t, std::uint32_t> &size, bool result)
      : placed_(placed), layer_(layer), shape_(tensor.shape), place_(place), rows_(size.first), cols_(size.second),
        result_(result) {
    jobs_.values.push_back({tensor.name, placed.id, tensor.type, tensor.shape.elements()});
    // Not a value between jobs: the product reads it, or has written it.
    jobs_.values.push_back({layer.name + ".matrix", placed.id, tensor.type, std::size_t{rows_} * cols_});
  }

  OpJobs run(bool first) {
    switch (placed_.form) {
    case Form::kMatrix:
      transpose_groups();
      break;
    case Form::kTransposedWeights:
      transpose_taps();
      break;
    case Form::kIm2col:
      if (is_of_kernel_rows(*placed_.conv))
        im2col_of_kernel_rows();
      else
        im2col();
      break;
    case Form::kTransposedRows:
      im2col_transposed();
      break;
    case Form::kPhase:
      if (first && covered() < jobs_.values[kTensor].elements) zero(kTensor);
      put_phase();
      break;
    case Form::kWithoutOnes:
      take_weights();
      break;
    case Form::kFirstRows:
      move({{0, 0}}, jobs_.values[kTensor].elements);
      break;
    case Form::kOfOnes:
      take_sums();
      break;
    }
    return std::move(jobs_);
  }

private:
  std::size_t from() const { return result_ ? kMatrix : kTensor; }
  std::size_t to() const { return result_ ? kTensor : kMatrix; }

  void transpose_groups() {
    const bool below = compiler::form_of(placed_.as).groups_below;
    const std::size_t own_rows = below ? rows_ / layer_.groups : rows_,
                      own_cols = below ? cols_ : cols_ / layer_.groups;
    const StoredMatrices stored = stored_matrices(placed_, layer_.groups, own_rows, own_cols, shape_, place_);
    for (std::size_t group = 0; group < layer_.groups; ++group) {
      // Groups below each other, or each on its own, are one matrix behind the other.
      const bool side_by_side = !below && !placed_.batch;
      const std::size_t matrix = group * own_cols * (side_by_side ? 1 : own_rows);
      transpose({own_rows, own_cols}, stored.firsts[group], stored.pitch, matrix, side_by_side ? cols_ : own_cols);
    }
  }

  /// A matrix of rows x columns, in the tensor by columns.
  void transpose(std::pair<std::size_t, std::size_t> size, std::size_t tensor, std::size_t tensor_pitch,
                 std::size_t matrix, std::size_t matrix_pitch) {
    VectorJob job;
    job.elementwise = true;
    job.program = program(copy_program());
    job.steps = static_cast<std::uint32_t>(size.first);
    job.lanes = static_cast<std::uint32_t>(size.second);
    const JobTile in_tensor{kTensor, tensor, tensor_pitch, LineOf::kColumn, true, true};
    const JobTile in_matrix{kMatrix, matrix, matrix_pitch, LineOf::kRow, true, true};
    job.operands = {result_ ? in_matrix : in_tensor};
    job.results = {result_ ? in_tensor : in_matrix};
    jobs_.steps.emplace_back(std::move(job));
  }

  /// W of a phase's taps: of each tap a transposed matrix.
  void transpose_taps() {
    const Convolution &conv = *placed_.conv;
    const TransposedPhase phase = transposed_phases(conv).at(placed_.phase);
    const std::size_t channels = conv.group_channels(), n = conv.n();
    for (std::size_t group = 0; group < conv.groups; ++group)
      for (std::size_t tap = 0; tap < phase.taps.size(); ++tap)
        transpose({n, channels}, (group * conv.k() + phase.taps[tap] * channels) * n, n,
                  (group * phase.taps.size() + tap) * n * channels, channels);
  }

  /// Each row of the image is read by one row of the kernel, and pixels have few channels.
  static bool is_of_kernel_rows(const Convolution &c) {
    return c.kernel_height > 1 && c.kernel_height == c.stride_height && c.groups == 1 && c.dilation_height == 1 &&
           c.dilation_width == 1 && c.kernel_width * c.channels <= kFewElements;
  }

  /// By way of the image with its padding, whose rows are read alike: so what a column of the result's pixels reads is
  /// one matrix, and matrices side by side go together (compiler/vector_stream/group/windows.hpp).
  void im2col_of_kernel_rows() {
    const Convolution &c = *placed_.conv;
    const std::size_t rows = std::size_t{c.batch} * c.out_height(), height = c.out_height() * c.stride_height,
                      pixels = c.width + c.pad_left + c.pad_right, line = pixels * c.channels,
                      own = std::size_t{c.width} * c.channels, read = c.kernel_width * c.channels;
    jobs_.values.push_back({layer_.name + ".padded", placed_.id, jobs_.values[kTensor].type, c.batch * height * line});
    fill({kPadded, 0, line}, c.batch * height, line, 0);
    const std::size_t there = std::min<std::size_t>(c.height, height - std::min<std::size_t>(height, c.pad_top));
    for (std::size_t image = 0; image < c.batch && there > 0; ++image)
      jobs_.steps.emplace_back(MoveJob{kTensor, kPadded, image * c.height * own, own,
                                       (image * height + c.pad_top) * line + std::size_t{c.pad_left} * c.channels, line,
                                       there, own});
    for (std::size_t x = 0; x < c.out_width(); ++x)
      for (std::size_t row = 0; row < c.kernel_height; ++row)
        copy({kPadded, kMatrix, row * line + x * c.stride_width * c.channels, c.kernel_height * line,
              x * cols_ + row * read, std::size_t{c.out_width()} * cols_, rows, read});
  }

  void im2col() {
    const Convolution &c = *placed_.conv;
    const bool lines = c.pad_top == 0 && c.pad_bottom == 0; // padding is at the ends of lines, if anywhere
    if (!lines) zero(kMatrix);
    for (std::uint32_t row = 0; row < c.kernel_height; ++row)
      for (std::uint32_t group = 0; group < c.groups; ++group)
        for (std::uint32_t x = 0; x < c.out_width(); ++x)
          im2col_of(row, group, x, lines);
  }

  /// What output pixels of one column read by a row of the kernel. Taps side by side in the image are one run.
  void im2col_of(std::uint32_t row, std::uint32_t group, std::uint32_t x, bool zeros) {
    const Convolution &c = *placed_.conv;
    const std::size_t length = c.group_channels(), first = group * c.k() + row * c.kernel_width * length;
    const std::uint32_t joined = c.groups == 1 && c.dilation_width == 1 ? c.kernel_width : 1;
    for (std::uint32_t tap = 0, end = 0; tap < c.kernel_width; tap = end) {
      const bool inside = is_inside(c, x, tap);
      end = tap + 1;
      while (end % joined != 0 && is_inside(c, x, end) == inside)
        ++end;
      const std::size_t col = first + tap * length, cols = (end - tap) * length;
      if (inside)
        move(runs_of(row, group, x, tap, col), cols);
      else if (zeros)
        fill({kMatrix, x * cols_ + col, std::size_t{c.out_width()} * cols_}, c.m() / c.out_width(), cols, 0);
    }
    if (placed_.ones)
      fill({kMatrix, (x + 1) * cols_ - 1, std::size_t{c.out_width()} * cols_}, c.m() / c.out_width(), 1, 1);
  }

  /// Of dW's matrix, whose rows are those of the kernel's rows, each with one more behind it.
  void take_weights() {
    const std::size_t own = (placed_.conv->channels - 1) * cols_;
    std::vector<Run> runs;
    for (std::size_t row = 0; row < placed_.conv->kernel_height; ++row)
      runs.push_back({row * (own + cols_), row * own});
    move(runs, own);
  }

  /// The kernel's row that meets the image in every pixel of dY has the sums of all.
  void take_sums() {
    const std::size_t row = row_inside_image(*placed_.conv).value();
    move({{((row + 1) * placed_.conv->channels - 1) * cols_, 0}}, cols_);
  }

  static bool is_inside(const Convolution &c, std::uint32_t x, std::uint32_t tap) {
    const std::uint32_t col = x * c.stride_width + tap * c.dilation_width;
    return col >= c.pad_left && col - c.pad_left < c.width;
  }

  /// From the pixels of a tap to a column of the matrix, of all rows in which the tap meets the image.
  std::vector<Run> runs_of(std::uint32_t row, std::uint32_t group, std::uint32_t x, std::uint32_t tap,
                           std::size_t col) const {
    const Convolution &c = *placed_.conv;
    std::vector<Run> runs;
    for (std::size_t m = x; m < c.m(); m += c.out_width()) {
      const std::size_t pixel = pixel_of(c, m, std::size_t{row} * c.kernel_width + tap);
      if (pixel != kPadding) runs.push_back({pixel * c.channels + group * c.group_channels(), m * cols_ + col});
    }
    return runs;
  }

  static constexpr std::size_t kPadding = ~std::size_t{0};

  /// The pixel that output pixel m reads at a tap.
  static std::size_t pixel_of(const Convolution &c, std::size_t m, std::size_t tap) {
    const std::size_t x = m % c.out_width(), y = m / c.out_width() % c.out_height(),
                      image = m / c.out_width() / c.out_height();
    const std::size_t row = y * c.stride_height + tap / c.kernel_width * c.dilation_height,
                      col = x * c.stride_width + tap % c.kernel_width * c.dilation_width;
    if (row < c.pad_top || row - c.pad_top >= c.height || col < c.pad_left || col - c.pad_left >= c.width)
      return kPadding;
    return (image * c.height + row - c.pad_top) * c.width + col - c.pad_left;
  }

  /// The output pixel that reads a pixel at a tap.
  static std::size_t reader_of(const Convolution &c, std::size_t pixel, std::size_t tap) {
    const std::size_t x = pixel % c.width + c.pad_left, y = pixel / c.width % c.height + c.pad_top,
                      image = pixel / c.width / c.height;
    const std::size_t down = tap / c.kernel_width * c.dilation_height, right = tap % c.kernel_width * c.dilation_width;
    if (y < down || x < right || (y - down) % c.stride_height != 0 || (x - right) % c.stride_width != 0)
      return kPadding;
    const std::size_t row = (y - down) / c.stride_height, col = (x - right) / c.stride_width;
    if (row >= c.out_height() || col >= c.out_width()) return kPadding;
    return (image * c.out_height() + row) * c.out_width() + col;
  }

  void im2col_transposed() {
    const Convolution &c = *placed_.conv;
    const TransposedPhase phase = transposed_phases(c).at(placed_.phase);
    const std::size_t length = c.n(), own = phase.taps.size() * length;
    bool padded = false;
    std::vector<Run> runs;
    for (std::size_t tap = 0; tap < phase.taps.size(); ++tap)
      for (std::size_t group = 0; group < c.groups; ++group)
        for (std::size_t row = 0; row < phase.pixels.size(); ++row) {
          const std::size_t reader = reader_of(c, phase.pixels[row], phase.taps[tap]);
          padded = padded || reader == kPadding;
          if (reader != kPadding)
            runs.push_back({reader * c.out_channels + group * length, row * cols_ + group * own + tap * length});
        }
    if (padded) zero(kMatrix);
    move(runs, length);
  }

  /// Elements of the image that this phase has.
  std::size_t covered() const { return std::size_t{rows_} * cols_; }

  void put_phase() {
    const TransposedPhase phase = transposed_phases(*placed_.conv).at(placed_.phase);
    std::vector<Run> runs;
    for (std::size_t row = 0; row < phase.pixels.size(); ++row)
      runs.push_back({row * cols_, std::size_t{phase.pixels[row]} * cols_});
    move(runs, cols_);
  }

  /// The first element of a rectangle, and elements from row to row.
  struct Corner {
    std::size_t value = 0, first = 0, pitch = 0;
  };

  void fill(const Corner &at, std::size_t rows, std::size_t cols, float value) {
    VectorJob job;
    job.elementwise = true;
    job.program = program(constant_program(value));
    job.steps = static_cast<std::uint32_t>(rows);
    job.lanes = static_cast<std::uint32_t>(cols);
    job.results = {JobTile{at.value, at.first, at.pitch, LineOf::kRow, true, true}};
    jobs_.steps.emplace_back(std::move(job));
  }

  void zero(std::size_t value) {
    const std::size_t cols = value == kMatrix ? cols_ : placed_.conv->channels;
    fill({value, 0, cols}, jobs_.values[value].elements / cols, cols, 0);
  }

  /// Moves of runs of `length` elements; those that are equally far apart on both sides go together.
  void move(const std::vector<Run> &runs, std::size_t length) {
    for (std::size_t i = 0; i < runs.size();) {
      std::size_t end = i + 1;
      MoveJob job{from(), to(), runs[i].from, 0, runs[i].to, 0, 1, length};
      if (end < runs.size() && runs[end].from > runs[i].from && runs[end].to > runs[i].to) {
        job.from_pitch = runs[end].from - runs[i].from;
        job.to_pitch = runs[end].to - runs[i].to;
        while (end < runs.size() && runs[end].from == runs[end - 1].from + job.from_pitch &&
               runs[end].to == runs[end - 1].to + job.to_pitch)
          ++end;
      }
      job.rows = end - i;
      if (job.rows > 1 && length <= kFewElements)
        copy(job);
      else
        jobs_.steps.emplace_back(job);
      i = end;
    }
  }

  /// Rows of few elements go through the vector unit, which copies them from and to lines that are moved as a whole.
  void copy(const MoveJob &move) {
    VectorJob job;
    job.elementwise = true;
    job.program = program(copy_program());
    job.steps = static_cast<std::uint32_t>(move.length);
    job.lanes = static_cast<std::uint32_t>(move.rows);
    job.operands = {JobTile{move.from, move.from_first, move.from_pitch, LineOf::kColumn, true, true}};
    job.results = {JobTile{move.to, move.to_first, move.to_pitch, LineOf::kColumn, true, true}};
    jobs_.steps.emplace_back(std::move(job));
  }
  static constexpr std::size_t kFewElements = 32;

  std::size_t program(const isa::vector::Program &wanted) {
    const auto found = std::find_if(jobs_.programs.begin(), jobs_.programs.end(), [&](const isa::vector::Program &p) {
      return isa::vector::encode(p) == isa::vector::encode(wanted);
    });
    if (found != jobs_.programs.end()) return static_cast<std::size_t>(found - jobs_.programs.begin());
    jobs_.programs.push_back(wanted);
    return jobs_.programs.size() - 1;
  }

  const PlacedTensor &placed_;
  const compiler::Layer &layer_;
  const graph::Shape &shape_;
  const TensorPlace &place_;
  std::uint32_t rows_, cols_;
  bool result_;
  OpJobs jobs_;
};

} // namespace

StoredMatrices stored_matrices(const PlacedTensor &placed, std::uint32_t groups, std::size_t rows, std::size_t cols,
                               const graph::Shape &shape, const TensorPlace &place) {
  StoredMatrices stored;
  const std::size_t elements = rows * cols;
  stored.pitch = !place.strides.empty() ? place.strides[shape.rank() - 2] : placed.transposed ? rows : cols;
  for (std::size_t group = 0; group < groups; ++group)
    stored.firsts.push_back(place.element(shape, group * elements));
  return stored;
}

OpJobs staging_jobs(const PlacedTensor &placed, const compiler::Layer &layer, const graph::Graph &graph,
                    const TensorPlace &place, std::uint32_t rows, std::uint32_t cols, bool result, bool first) {
  return Staging(placed, layer, graph.tensors[placed.id], place, {rows, cols}, result).run(first);
}

} // namespace gradweave::runtime::train
