#include "memory_model/tiles/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace gradweave::memory_model {
namespace {

using compiler::Layer;

constexpr std::array<LoopOrder, 6> kAllLoops{
    {{kM, kK, kN}, {kM, kN, kK}, {kK, kM, kN}, {kK, kN, kM}, {kN, kM, kK}, {kN, kK, kM}}};
constexpr double kCommandBytes = 64, kCommandsOfAProduct = 3;
/// Latencies of the memory that nothing hides: of a pass's first operand, and of its last result.
constexpr double kStartLatencies = 2;

std::string_view letters(const LoopOrder &loops) {
  constexpr std::array<std::string_view, 6> kNames{"mkn", "mnk", "kmn", "knm", "nmk", "nkm"};
  return kNames[static_cast<std::size_t>(std::find(kAllLoops.begin(), kAllLoops.end(), loops) - kAllLoops.begin())];
}

class PassSearch {
public:
  PassSearch(const Layer &layer, Way way, const gradweave::Machine &npu, const Calibration &calibration)
      : layer_(layer), npu_(npu), calibration_(calibration), sides_(sides_of(layer, way, npu)), lines_(npu.spm_rows()) {
    best_.cycles = std::numeric_limits<double>::infinity();
  }

  Product product(Result result) const { return product_of(layer_, result, sides_, npu_); }

  /// One product, in any order of loops.
  void try_alone(const Product &p) {
    for_cuts({&p}, [&](const Cut &cut, double array) {
      for (const LoopOrder &loops : kAllLoops) {
        streams_.clear();
        for (const CutTensor *tensor : {&p.shared, &p.other, &p.sum})
          add_streams(streams_, *tensor, p, loops, cut);
        consider(cut, array, p, letters(loops));
      }
    });
  }

  /// dX and dW by turns, each in its order.
  void try_fused(const Product &dx, const Product &dw, const LoopOrder &dx_loops, const LoopOrder &dw_loops,
                 std::string_view name) {
    for_cuts({&dx, &dw}, [&](const Cut &cut, double array) {
      streams_.clear();
      if (dx_loops != dw_loops && !same_walk(dx, dw_loops, cut)) {
        add_streams(streams_, dw.shared, dw, dw_loops, cut);
        // Of the first product's tiles the second finds those that stay.
        Stream &dy = streams_.front();
        dy.again += dy.once;
        dy.once = {};
        dy.kept = dy.tile * dw.trips[kM][cut[kM]] * dw.trips[kN][cut[kN]];
      }
      for (const CutTensor *tensor : {&dx.shared, &dx.other, &dx.sum})
        add_streams(streams_, *tensor, dx, dx_loops, cut);
      for (const CutTensor *tensor : {&dw.other, &dw.sum})
        add_streams(streams_, *tensor, dw, dw_loops, cut);
      consider(cut, array, dx, name);
    });
  }

  PassEstimate result() const {
    if (best_.array_cycles == 0)
      throw std::invalid_argument(
          fmt::format("layer '{}': no tiles of it fit the scratchpad of NPU '{}'", layer_.name, npu_.name));
    return best_;
  }
  double cycles() const { return best_.cycles; }

private:
  /// Calls try_cut(cut, array steps) for cuts that may be faster than the best.
  template <typename Try> void for_cuts(const std::vector<const Product *> &products, Try try_cut) {
    Cut cut{};
    for (cut[kM] = 0; cut[kM] < sides_[kM].size(); ++cut[kM])
      for (cut[kK] = 0; cut[kK] < sides_[kK].size(); ++cut[kK])
        for (cut[kN] = 0; cut[kN] < sides_[kN].size(); ++cut[kN]) {
          double array = 0;
          for (const Product *p : products)
            array += p->steps[kM][cut[kM]] * p->steps[kK][cut[kK]] * p->steps[kN][cut[kN]];
          if (array < best_.cycles) try_cut(cut, array);
        }
  }

  /// Whether both products use the same tile of dY at a time.
  static bool same_walk(const Product &p, const LoopOrder &dw_loops, const Cut &cut) {
    const bool one_m = p.trips[kM][cut[kM]] == 1, one_k = p.trips[kK][cut[kK]] == 1, one_n = p.trips[kN][cut[kN]] == 1;
    return (one_k && one_n) || (one_m && (dw_loops[0] == kK || one_k || one_n));
  }

  void consider(const Cut &cut, double array, const Product &p, std::string_view name) {
    const Residence r = reside(streams_, lines_);
    if (!r.fits) return;
    const double products = p.trips[kM][cut[kM]] * p.trips[kK][cut[kK]] * p.trips[kN][cut[kN]] * layer_.groups;
    const double commands = products * kCommandsOfAProduct;
    const double cycles = pass_cycles(array, bus_cycles(r.moves, commands, npu_), r.ahead, npu_, calibration_);
    if (cycles >= best_.cycles) return;
    best_ = {r.moves,
             array,
             commands,
             r.ahead,
             cycles,
             fmt::format("{} {} x {} x {}", name, sides_[kM][cut[kM]].terms, sides_[kK][cut[kK]].terms,
                         sides_[kN][cut[kN]].terms)};
  }

  const Layer &layer_;
  const gradweave::Machine &npu_;
  const Calibration &calibration_;
  Sides sides_;
  double lines_;
  std::vector<Stream> streams_;
  PassEstimate best_;
};

/// Algorithm 1 of igo_micro23: which order, by the layer's dimensions.
enum class Fused : std::uint8_t { kInterleave, kDxMajor, kDwMajor };
Fused by_shape(const Layer &layer) {
  const std::uint32_t most = std::max({layer.m, layer.k, layer.n}), least = std::min({layer.m, layer.k, layer.n});
  if (most < 4ULL * least) return Fused::kInterleave;
  return layer.k == most ? Fused::kDwMajor : Fused::kDxMajor;
}

PassEstimate estimate_back(const Layer &layer, BackOrder order, const gradweave::Machine &npu,
                           const Calibration &calibration) {
  PassSearch search(layer, Way::kBackward, npu, calibration);
  const Product dw = search.product(Result::kDW);
  if (!layer.dx) {
    search.try_alone(dw);
    return search.result();
  }
  const Product dx = search.product(Result::kDX);
  const bool all = order == BackOrder::kFastest;
  const Fused chosen = by_shape(layer);
  if (all || chosen == Fused::kDxMajor) search.try_fused(dx, dw, {kM, kN, kK}, {kM, kN, kK}, "dx_major");
  if (all || chosen == Fused::kDwMajor) search.try_fused(dx, dw, {kN, kM, kK}, {kN, kM, kK}, "dw_major");
  if (all || chosen == Fused::kInterleave) {
    search.try_fused(dx, dw, {kM, kK, kN}, {kN, kK, kM}, "interleave nkm");
    search.try_fused(dx, dw, {kM, kK, kN}, {kK, kN, kM}, "interleave knm");
  }
  if (!all) return search.result();
  PassSearch first(layer, Way::kBackward, npu, calibration), second(layer, Way::kBackward, npu, calibration);
  first.try_alone(dx);
  second.try_alone(dw);
  if (first.cycles() + second.cycles() >= search.cycles()) return search.result();
  PassEstimate both = first.result();
  const PassEstimate last = second.result();
  both.moves += last.moves;
  both.array_cycles += last.array_cycles;
  both.commands += last.commands;
  both.cycles += last.cycles;
  both.order = fmt::format("dX {}, dW {}", both.order, last.order);
  return both;
}

} // namespace

double bus_cycles(const Moves &moves, double commands, const gradweave::Machine &npu) {
  const double bytes = moves.bytes() + commands * kCommandBytes;
  return std::max({bytes * static_cast<double>(npu.memory.bytes_den) / static_cast<double>(npu.memory.bytes_num),
                   moves.load_cycles, moves.store_cycles});
}

double pass_cycles(double array_cycles, double bus_cycles, double ahead, const gradweave::Machine &npu,
                   const Calibration &calibration) {
  const auto [smaller, larger] = std::minmax(array_cycles, bus_cycles);
  return larger + (calibration.serial + calibration.exposed * (1 - ahead)) * smaller +
         kStartLatencies * npu.memory.latency_cycles;
}

std::vector<Result> results_of(const Layer &layer, Way way) {
  if (way == Way::kForward) return {Result::kY};
  return layer.dx ? std::vector<Result>{Result::kDX, Result::kDW} : std::vector<Result>{Result::kDW};
}

PassEstimate estimate_pass(const Layer &layer, Way way, BackOrder order, const gradweave::Machine &npu,
                           const Calibration &calibration) {
  if (way == Way::kBackward) return estimate_back(layer, order, npu, calibration);
  PassSearch search(layer, way, npu, calibration);
  search.try_alone(search.product(Result::kY));
  return search.result();
}

} // namespace gradweave::memory_model
