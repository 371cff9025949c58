#include "graph/onnx/nodes/tap_pool.hpp"

#include "graph/onnx/nodes/compose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gradweave::graph::onnx {
namespace {

constexpr std::int64_t kMostTaps = 1024; ///< each is an op or two over all results

/// One axis of a window.
struct PoolAxis {
  std::int64_t size, kernel, stride, dilation, before, behind; ///< behind: with what ceil_mode adds
  std::int64_t extra;

  std::int64_t outputs() const { return (size + before + behind - dilation * (kernel - 1) - 1) / stride + 1; }
  /// Taps of an output's window that count.
  std::int64_t counted(std::int64_t output, bool pads_count) const {
    const std::int64_t low = pads_count ? -before : 0, high = size + (pads_count ? behind - extra : 0);
    std::int64_t taps = 0;
    for (std::int64_t tap = 0; tap < kernel; ++tap) {
      const std::int64_t at = output * stride + tap * dilation - before;
      taps += at >= low && at < high ? 1 : 0;
    }
    return taps;
  }
};

class TapPool {
public:
  TapPool(NodeImport &node, const Value &x, const Window &w) : node_(node) {
    rank_ = x.rank();
    const std::size_t spatial = rank_ - 2, first = w.axes() - spatial; // of a signal, rows are 1
    for (std::size_t d = 0; d < spatial; ++d) {
      const std::size_t axis = first + d;
      axes_.push_back({x.dims[2 + d], w.kernel[axis], w.strides[axis], w.dilations[axis], w.pads[axis],
                       w.pads[axis + w.axes()] + w.extra[axis], w.extra[axis]});
      taps_ *= axes_.back().kernel;
    }
    if (taps_ > kMostTaps)
      node.fail(fmt::format("a window of {} taps, dilated, of volumes or of a norm: {} are taken", taps_, kMostTaps));
    for (const PoolAxis &axis : axes_)
      if (axis.size + axis.before + axis.behind < axis.dilation * (axis.kernel - 1) + 1)
        node.fail(fmt::format("the window spans more than the padded input '{}', {}", x.name, text_of(x.dims)));
    image_ = node.place.in_order(x, image_order(rank_));
  }

  void run() {
    if (node_.is("MaxPool")) {
      padded(-std::numeric_limits<double>::infinity());
      return give(joined("Max"));
    }
    if (node_.is("AveragePool")) {
      padded(0);
      return give({"Mul", {step(joined("Add")), shares()}});
    }
    const auto p = static_cast<double>(node_.integer("p", 2));
    if (p == 2)
      image_ = node_.step("Mul", {image_, image_}, {}, "square");
    else
      image_ = node_.step("Abs", {image_});
    if (p != 1 && p != 2) image_ = node_.step("Pow", {image_, scalar(node_, p)});
    padded(0);
    const Call sum = joined("Add");
    if (p == 1) return give(sum);
    if (p == 2) return give(norm_call(node_, step(sum)));
    give({"Pow", {step(sum), scalar(node_, 1 / p)}});
  }

private:
  TensorId step(const Call &call) { return node_.step(call.op, call.inputs, call.attributes); }
  void give(const Call &call) { node_.give(node_.last(call.op, call.inputs, call.attributes), image_order(rank_)); }

  void padded(double value) {
    Dims frame(2 * rank_, 0);
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      frame[1 + d] = axes_[d].before;
      frame[1 + d + rank_] = axes_[d].behind;
    }
    if (std::all_of(frame.begin(), frame.end(), [](std::int64_t f) { return f == 0; })) return;
    image_ = node_.step("Pad", {image_}, {{"pads", frame}, {"value", value}});
  }

  TensorId tap(std::int64_t number) {
    Dims starts(axes_.size()), ends, places, strides;
    for (std::size_t d = axes_.size(); d-- > 0; number /= axes_[d].kernel)
      starts[d] = number % axes_[d].kernel * axes_[d].dilation;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      ends.push_back(starts[d] + (axes_[d].outputs() - 1) * axes_[d].stride + 1);
      places.push_back(static_cast<std::int64_t>(d + 1));
      strides.push_back(axes_[d].stride);
    }
    return node_.step("Slice", {image_}, {{"starts", starts}, {"ends", ends}, {"axes", places}, {"steps", strides}});
  }

  /// Taps ascending.
  Call joined(std::string_view op) {
    const TensorId first = tap(0);
    if (taps_ == 1) return {"Reshape", {first}, {{"shape", numbers(node_.build.shape(first))}}};
    Call call{op, {first, tap(1)}};
    for (std::int64_t t = 2; t < taps_; ++t)
      call.inputs = {step(call), tap(t)};
    return call;
  }

  /// One over the taps that count, for each pixel of the result; of a window that lies in padding altogether, NaN.
  TensorId shares() {
    const bool pads_count = node_.integer("count_include_pad", 0) != 0;
    std::vector<double> counts{1};
    Dims dims;
    for (const PoolAxis &axis : axes_) {
      std::vector<double> all;
      for (const double count : counts)
        for (std::int64_t o = 0; o < axis.outputs(); ++o)
          all.push_back(count * static_cast<double>(axis.counted(o, pads_count)));
      counts = std::move(all);
      dims.push_back(axis.outputs());
    }
    for (double &count : counts)
      count = 1 / count;
    dims.push_back(1);
    return node_.build.constant(node_.build.fresh(node_.name() + ".shares"), shape_of(node_.build, node_.name(), dims),
                                std::move(counts), ElementType::kFp32);
  }

  NodeImport &node_;
  std::size_t rank_ = 0;
  std::vector<PoolAxis> axes_;
  std::int64_t taps_ = 1;
  TensorId image_ = kNone;
};

} // namespace

void give_tap_pool(NodeImport &node, const Value &x, const Window &window) { TapPool(node, x, window).run(); }

} // namespace gradweave::graph::onnx
