#include "memory_model/tiles/product.hpp"

#include <algorithm>
#include <numeric>

namespace gradweave::memory_model {
namespace {

using compiler::Layer;

/// What a row of an operand, or of a result, takes when it is cut into tiles of columns.
class RowCost {
public:
  explicit RowCost(const gradweave::Machine &npu) : npu_(npu), access_(access_bytes(npu)) {}

  Moves read(std::uint32_t extent, std::uint32_t side, std::uint32_t groups, std::uint32_t element) const {
    const Cost cost = of(extent, side, groups, element);
    return {cost.bytes, 0, cost.port, 0};
  }
  Moves written(std::uint32_t extent, std::uint32_t side, std::uint32_t groups, std::uint32_t element) const {
    const Cost cost = of(extent, side, groups, element);
    return {0, cost.bytes, 0, cost.port};
  }

private:
  struct Cost {
    double bytes = 0, port = 0;
    Cost &operator+=(const Cost &other) {
      bytes += other.bytes;
      port += other.port;
      return *this;
    }
  };

  /// Of all groups side by side: `groups` times `extent` columns in tiles that begin anew with each group.
  Cost of(std::uint32_t extent, std::uint32_t side, std::uint32_t groups, std::uint32_t element) const {
    // Places within an access repeat after at most as many groups as an access has bytes.
    const std::uint32_t period = std::min(groups, access_ / std::gcd(access_, extent * element));
    Cost all, rest;
    for (std::uint32_t g = 0; g < period; ++g) {
      const Cost cost = of_group(std::uint64_t{g} * extent * element, extent, side, element);
      all += cost;
      if (g < groups % period) rest += cost;
    }
    const std::uint32_t periods = groups / period;
    const double times = periods;
    return {all.bytes * times + rest.bytes, all.port * times + rest.port};
  }

  Cost of_group(std::uint64_t first, std::uint32_t extent, std::uint32_t side, std::uint32_t element) const {
    const std::uint32_t whole = extent / side, rest = extent % side;
    Cost cost;
    for (std::uint32_t t = 0; t < whole; ++t)
      add(cost, first + std::uint64_t{t} * side * element, side * element);
    if (rest != 0) add(cost, first + std::uint64_t{whole} * side * element, rest * element);
    return cost;
  }

  void add(Cost &cost, std::uint64_t address, std::uint32_t bytes) const {
    const auto units = [&](std::uint32_t unit) {
      const std::uint64_t first = address / unit, end = (address + bytes + unit - 1) / unit;
      return static_cast<double>(end - first);
    };
    cost.bytes += units(access_) * access_;
    cost.port += std::max(units(npu_.bus_bytes), static_cast<double>(npu_.memory.latency_cycles) / npu_.outstanding);
  }

  const gradweave::Machine &npu_;
  std::uint32_t access_;
};

/// Makes the tensors of a product.
class Cutter {
public:
  Cutter(const Layer &layer, const Sides &sides, const gradweave::Machine &npu)
      : layer_(layer), sides_(sides), npu_(npu), cost_(npu), taps_(taps_of(layer)), channels_(layer.k / taps_) {}

  /// Pixels of the image for one of the result, where images are read.
  double image_pixels() const {
    if (!layer_.image) return 1;
    return static_cast<double>(layer_.conv->batch) * layer_.conv->height * layer_.conv->width / layer_.m;
  }
  /// Steps of dX for one of dW: with a stride a phase has those of its taps only.
  double gradient_steps() const {
    return layer_.image ? image_pixels() / (layer_.conv->stride_height * layer_.conv->stride_width) : 1;
  }

  /// Rows along M: lines of a matrix, or pixels, of which taps read those around a tile as well; `pixels` for one of
  /// the result.
  std::vector<CutTensor::Rows> lines(bool taps_read, double pixels) const {
    std::vector<CutTensor::Rows> rows;
    for (const Side &side : sides_[kM]) {
      double halo = 1;
      if (layer_.image && taps_read) {
        const Convolution &conv = *layer_.conv;
        const double all = static_cast<double>(layer_.m) / conv.out_width();
        const std::uint32_t own = side.terms / conv.out_width(); // tiles are of whole lines
        const double around = static_cast<double>(conv.kernel_height - 1) * conv.dilation_height / conv.stride_height;
        halo = std::min(all, own + around) / own;
      }
      rows.push_back(
          {halo * pixels * layer_.m, halo * pixels * side.terms, static_cast<double>(divide_up(layer_.m, side.terms))});
    }
    return rows;
  }

  /// A row of so many groups of columns side by side.
  CutTensor::Cols column(std::uint32_t extent, std::uint32_t side, std::uint32_t groups, bool is_sum,
                         bool leaves_fp32) const {
    CutTensor::Cols c;
    c.trips = divide_up(extent, side);
    c.panels = divide_up(side, npu_.lanes()) * (is_sum ? 2 : 1);
    if (is_sum) {
      c.once = cost_.written(extent, side, groups, leaves_fp32 ? 4 : 2);
      c.again = cost_.written(extent, side, 1, 4) * groups;
      c.again += cost_.read(extent, side, 1, 4) * groups;
    } else {
      c.once = c.again = cost_.read(extent, side, groups, 2);
    }
    return c;
  }

  /// W or dW: K x N, groups below one another.
  CutTensor weights(Result result) const {
    CutTensor w;
    w.row = kK;
    w.col = kN;
    w.is_sum = result == Result::kDW;
    const bool of_taps = layer_.image && result == Result::kDX; // a tile has rows of several taps
    for (const Side &side : sides_[kK]) {
      const std::uint32_t tiles = of_taps                                 ? divide_up(channels_, side.terms)
                                  : result == Result::kY || !layer_.image ? divide_up(layer_.k, side.terms)
                                                                          : taps_ * divide_up(channels_, side.terms);
      w.rows.push_back({static_cast<double>(layer_.k), static_cast<double>(side.terms), static_cast<double>(tiles)});
    }
    for (const Side &side : sides_[kN]) {
      CutTensor::Cols c = column(layer_.n, std::min(side.cols, layer_.n), 1, w.is_sum, true);
      c.once = c.once * layer_.groups;
      c.again = c.again * layer_.groups;
      if (of_taps) {
        const std::uint32_t count = side.terms / side.cols;
        c.panels *= count;
        if (count > 1) c.all = channels_; // else a product's alone
        c.trips = divide_up(layer_.n * taps_, side.terms);
      }
      w.cols.push_back(c);
    }
    return w;
  }

  /// X, Y or a gradient of them: M lines of groups side by side, or as many pixels for each.
  CutTensor activation(Dim col, std::uint32_t extent, bool taps_read, bool is_sum, bool leaves_fp32,
                       double pixels = 1) const {
    CutTensor t;
    t.row = kM;
    t.col = col;
    t.is_sum = is_sum;
    t.rows = lines(taps_read, pixels);
    for (const Side &side : sides_[col])
      t.cols.push_back(column(extent, std::min(side.cols, extent), layer_.groups, is_sum, leaves_fp32));
    return t;
  }

  /// What a product's loop along a dimension counts: columns, or the terms of all taps.
  using Count = std::uint32_t Side::*;

  std::vector<double> trips(Dim dim, std::uint32_t extent, Count count = &Side::cols, std::uint32_t times = 1) const {
    return over(dim, extent, count, times, [](std::uint32_t) { return 1.0; });
  }
  std::vector<double> blocks(Dim dim, std::uint32_t extent, std::uint32_t unit, double times = 1) const {
    return over(dim, extent, &Side::cols, times,
                [unit](std::uint32_t size) -> double { return divide_up(size, unit); });
  }
  std::vector<double> reduction(Dim dim, std::uint32_t extent, Count count, double times = 1) const {
    const double least = shortest_block(npu_);
    return over(dim, extent, count, times, [least](std::uint32_t size) { return std::max<double>(size, least); });
  }

  std::uint32_t taps() const { return taps_; }
  std::uint32_t channels() const { return channels_; }

private:
  /// Sums of f(size) over the tiles.
  template <typename F> std::vector<double> over(Dim dim, std::uint32_t extent, Count count, double times, F f) const {
    std::vector<double> sums;
    for (const Side &side : sides_[dim]) {
      const std::uint32_t size = std::min(side.*count, extent), whole = extent / size, rest = extent % size;
      sums.push_back(times * (whole * f(size) + (rest != 0 ? f(rest) : 0.0)));
    }
    return sums;
  }

  const Layer &layer_;
  const Sides &sides_;
  const gradweave::Machine &npu_;
  RowCost cost_;
  std::uint32_t taps_, channels_;
};

} // namespace

double shortest_block(const NpuConfig &npu) { return std::max(2 * npu.rows + 4, npu.rows + npu.cols + 2); }

std::uint32_t access_bytes(const gradweave::Machine &npu) {
  return npu.memory.access_bytes != 0 ? npu.memory.access_bytes : npu.bus_bytes;
}

Product product_of(const Layer &layer, Result result, const Sides &sides, const gradweave::Machine &npu) {
  const Cutter cut(layer, sides, npu);
  const std::uint32_t groups = layer.groups, taps = cut.taps(), channels = cut.channels();
  Product p;
  p.result = result;
  switch (result) {
  case Result::kY:
    p.shared = cut.activation(kK, channels, true, false, false, cut.image_pixels());
    p.other = cut.weights(result);
    p.sum = cut.activation(kN, layer.n, false, true, layer.y_fp32);
    p.trips = {cut.trips(kM, layer.m), cut.trips(kK, layer.k, &Side::terms), cut.trips(kN, layer.n)};
    p.steps = {cut.blocks(kM, layer.m, npu.rows, groups), cut.reduction(kK, layer.k, &Side::terms),
               cut.blocks(kN, layer.n, npu.cols)};
    break;
  case Result::kDX:
    p.shared = cut.activation(kN, layer.n, true, false, false);
    p.other = cut.weights(result);
    p.sum = cut.activation(kK, channels, false, true, layer.dx_fp32, cut.image_pixels());
    p.trips = {cut.trips(kM, layer.m), cut.trips(kK, channels), cut.trips(kN, layer.n * taps, &Side::terms)};
    p.steps = {cut.blocks(kM, layer.m, npu.rows, groups * cut.gradient_steps()), cut.blocks(kK, channels, npu.cols),
               cut.reduction(kN, layer.n * taps, &Side::terms)};
    break;
  case Result::kDW:
    p.shared = cut.activation(kN, layer.n, false, false, false);
    p.other = cut.activation(kK, channels, true, false, false, cut.image_pixels());
    p.other.taps = taps; // a product has one
    p.sum = cut.weights(result);
    p.trips = {cut.trips(kM, layer.m), cut.trips(kK, channels, &Side::cols, taps), cut.trips(kN, layer.n)};
    p.steps = {cut.reduction(kM, layer.m, &Side::cols, groups), cut.blocks(kK, channels, npu.rows, taps),
               cut.blocks(kN, layer.n, npu.cols)};
    break;
  }
  return p;
}

} // namespace gradweave::memory_model
