#include "compiler/depthwise/fused/fused_layout.hpp"

#include "compiler/depthwise/programs.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler::depthwise {
namespace {

std::size_t pairs_of(const Convolution &conv) { return (conv.kernel_height * conv.kernel_width + 1) / 2; }

/// Columns beyond the image's last one that the last results read.
std::size_t columns_right(const Convolution &conv) {
  const std::int64_t last = static_cast<std::int64_t>((conv.out_width() - 1) * conv.stride_width +
                                                      (conv.kernel_width - 1) * conv.dilation_width) -
                            conv.pad_left;
  return static_cast<std::size_t>(std::max<std::int64_t>(0, last + 1 - conv.width));
}

/// The least number from `least` on that leaves the same remainder.
std::size_t congruent(std::size_t least, std::size_t to, std::size_t modulus) {
  return least + (to % modulus + modulus - least % modulus) % modulus;
}

class LayoutBuilder {
public:
  LayoutBuilder(const std::vector<Layer> &layers, std::size_t rows, const Machine &npu)
      : layers_(layers), lanes_(npu.lanes()), npu_(npu) {
    layout_.rows = rows;
    const std::vector<FusedRows> taken = fused_rows(layers, {0, rows});
    for (std::size_t i = 0; i <= layers.size(); ++i)
      add_map(i, taken[i].count);
    set_columns();
    suits_areas_ = suits_areas();
  }

  /// Rows from column to column of the first map, at least.
  std::size_t least_pitch() const { return needed_from(0); }

  /// With such a pitch.
  std::optional<FusedLayout> run(std::size_t pitch) {
    set_pitches(pitch);
    place();
    return fits() ? std::optional<FusedLayout>(layout_) : std::nullopt;
  }

private:
  void add_map(std::size_t i, std::size_t rows) {
    FusedMap map;
    map.rows = rows;
    const Layer *before = i > 0 ? &layers_[i - 1] : nullptr;
    if (i < layers_.size() && layers_[i].vector) { // its image; what a product computes has the pixels that it reads
      const Convolution &conv = *layers_[i].conv;
      map.height = conv.height;
      map.width = conv.width;
      map.left = conv.pad_left;
      map.right = columns_right(conv);
    } else if (before != nullptr && before->vector) {
      map.height = before->conv->out_height();
      map.width = before->conv->out_width();
    } else if (before != nullptr) {
      map.height = layout_.maps.back().height;
      map.width = layout_.maps.back().width;
    } else { // of the depthwise layer's image
      const auto deep = std::find_if(layers_.begin(), layers_.end(), [](const Layer &l) { return l.vector; });
      map.height = deep->conv->height;
      map.width = deep->conv->width;
    }
    map.channels = before == nullptr ? (layers_.front().vector ? layers_.front().conv->channels : layers_.front().k)
                   : before->vector  ? before->conv->channels
                                     : before->n;
    // The unit's first results count for nothing, but where rows that count are copied.
    if (before != nullptr)
      map.first = !before->vector                    ? layout_.maps.back().first
                  : before->conv->stride_height == 1 ? before->conv->kernel_height - 1
                                                     : 0;
    layout_.maps.push_back(map);
  }

  /// The unit takes columns of all panels one after the other: in both maps of a depthwise layer a panel has as many,
  /// but for the stride.
  void set_columns() {
    for (FusedMap &map : layout_.maps)
      map.columns = map.left + map.width + map.right;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!layers_[i].vector) continue;
      FusedMap &in = layout_.maps[i], &out = layout_.maps[i + 1];
      const std::size_t stride = layers_[i].conv->stride_width;
      out.columns = std::max(out.columns, divide_up(in.columns, stride));
      in.columns = out.columns * stride;
    }
  }

  /// Of maps from this one on, as long as products follow: they lie alike.
  std::size_t needed_from(std::size_t map) const {
    std::size_t needed = 0;
    for (std::size_t i = map; i < layout_.maps.size(); ++i) {
      if (i > map && layers_[i - 1].vector) break;
      needed = std::max(needed, layout_.maps[i].first + layout_.maps[i].rows);
    }
    return needed;
  }

  /// A channel keeps its lane on the way through the unit, if columns of what is written are as far apart as those that
  /// are read, but for multiples of the lanes.
  void set_pitches(std::size_t pitch) {
    layout_.kernels.assign(layers_.size(), {});
    layout_.maps.front().pitch = pitch;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      FusedMap &to = layout_.maps[i + 1];
      to.pitch = layout_.maps[i].pitch;
      if (!layers_[i].vector) continue;
      const Convolution &conv = *layers_[i].conv;
      const std::size_t apart = conv.stride_width * layout_.maps[i].pitch, steps = layout_.maps[i].rows;
      const bool direct = conv.stride_height == 1;
      to.pitch = congruent(std::max(needed_from(i + 1), direct ? steps : 1), apart, lanes_);
      layout_.kernels[i].sums_pitch = direct ? 0 : congruent(steps, apart, lanes_);
      layout_.kernels[i].spread_pitch = 2 * steps;
    }
  }

  /// Panels without gaps: rows of a panel are even.
  bool is_even() const {
    return std::all_of(layout_.maps.begin(), layout_.maps.end(),
                       [](const FusedMap &map) { return map.columns * map.pitch % 2 == 0; });
  }

  static PlaceTile add_tile(const FusedMap &map, PlaceLayout &place) {
    return place.add(map.columns * map.pitch, map.channels);
  }

  void place() {
    PlaceLayout place(lanes_);
    layout_.weights.clear();
    layout_.other_input = add_tile(layout_.maps.front(), place);
    for (FusedMap &map : layout_.maps)
      map.tile = add_tile(map, place);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer &layer = layers_[i];
      if (!layer.vector) {
        layout_.weights.push_back(place.add(layer.k, layer.n));
        continue;
      }
      const Convolution &conv = *layer.conv;
      FusedKernel &kernel = layout_.kernels[i];
      layout_.weights.push_back(place.add(conv.channels, conv.kernel_height * conv.kernel_width));
      if (kernel.sums_pitch > 0)
        kernel.sums = place.add(layout_.maps[i + 1].columns * kernel.sums_pitch, conv.channels);
      // A run has as many lines of weights as steps, of which only the last count.
      kernel.spread = place.add(layout_.maps[i + 1].columns * layout_.maps[i].rows, conv.channels, true);
    }
    layout_.spm_rows = place.rows();
  }

  bool fits() const {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const FusedMap &map = layout_.maps[i];
      const std::size_t panels = divide_up(map.channels, lanes_);
      if (map.columns * std::max(map.pitch, panels * lanes_) > kMostInField) return false;
      if (layout_.kernels[i].sums_pitch * layout_.maps[i + 1].columns % 2 != 0) return false;
    }
    return suits_areas_ && is_even() && layout_.spm_rows <= npu_.spm_rows();
  }

  /// Whether each area has rows of all images, and steps for all pairs of weights.
  bool suits_areas() const {
    for (std::size_t area = 0; area < layout_.areas(); ++area) {
      const std::size_t first = area * layout_.rows;
      const std::vector<FusedRows> rows =
          fused_rows(layers_, {static_cast<std::int64_t>(first),
                               std::min<std::size_t>(layout_.rows, layout_.maps.back().height - first)});
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        if (rows[i].begin() >= rows[i].end(layout_.maps[i].height)) return false;
        if (layers_[i].vector && rows[i].count < pairs_of(*layers_[i].conv)) return false;
      }
    }
    return true;
  }

  const std::vector<Layer> &layers_;
  std::uint32_t lanes_;
  const Machine &npu_;
  FusedLayout layout_;
  bool suits_areas_ = false;
};

} // namespace

bool can_be_fused(const Layer &layer) {
  if (layer.y_fp32) return false;
  if (!layer.vector) return layer.groups == 1 && !layer.image;
  const Convolution &conv = *layer.conv;
  return conv.dilation_height == 1 && has_image_rows(conv.kernel_height, conv.kernel_width);
}

std::vector<FusedRows> fused_rows(const std::vector<Layer> &layers, const FusedRows &last) {
  std::vector<FusedRows> rows(layers.size() + 1, last);
  for (std::size_t i = layers.size(); i-- > 0;) {
    rows[i] = rows[i + 1];
    if (!layers[i].vector) continue;
    const Convolution &conv = *layers[i].conv;
    rows[i].first = rows[i].first * conv.stride_height - conv.pad_top;
    rows[i].count = (rows[i].count - 1) * conv.stride_height + conv.kernel_height;
  }
  return rows;
}

std::optional<FusedLayout> fused_layout(const std::vector<Layer> &layers, std::size_t rows, const Machine &npu) {
  LayoutBuilder builder(layers, rows, npu);
  const std::size_t least = builder.least_pitch();
  std::optional<FusedLayout> smallest;
  for (std::size_t pitch = least; pitch < least + npu.lanes(); ++pitch)
    if (std::optional<FusedLayout> layout = builder.run(pitch);
        layout && (!smallest || layout->spm_rows < smallest->spm_rows))
      smallest = std::move(layout);
  return smallest;
}

} // namespace gradweave::compiler::depthwise
