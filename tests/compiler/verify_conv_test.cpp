// verify_stream on streams with CONV and WGRAD: right ones pass, and a command that is changed in any field that
// matters is found.
#include "compiler/ir/image.hpp"
#include "compiler/verify/verify.hpp"
#include "compiler/verify/verify_hazards.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/layer_run.hpp"
#include "tests/sw_models/random_convolution.hpp"

#include <functional>
#include <vector>

namespace gradweave::compiler {
namespace {

/// A strided one is packed if it can be and seeds are odd.
Compiled compiled_image_layer(std::uint64_t seed, const Machine &npu, bool strided = false) {
  Dice dice(seed);
  Layer layer = image_layer(strided ? random_strided_convolution(dice) : random_image_convolution(dice));
  if (strided && seed % 2 == 1 && layer.groups == 1 && layer.conv->stride_width == 2) {
    layer.conv->channels = dice.between(1, npu.lanes() / 4);
    layer.k = layer.conv->k();
    layer.packed = true;
    layer.dx = false;
  }
  CompileOptions options;
  options.pass = Pass::kBoth;
  options.schedule = Schedule("in_order");
  return compile({layer}, npu, options);
}

using Change = std::function<void(isa::ConvCommand &)>;

struct NamedChange {
  const char *name;
  bool both; ///< of WGRAD too
  Change change;
};

std::vector<NamedChange> changes() {
  return {{"OFF_Y", true, [](auto &c) { ++c.image.off_y; }},
          {"OFF_X", true, [](auto &c) { --c.image.off_x; }},
          {"STEP_Y", false, [](auto &c) { ++c.image.step_y; }},
          {"STEP_X", false, [](auto &c) { --c.image.step_x; }},
          {"IMG_W", true, [](auto &c) { --c.image.img_w; }},
          {"IMG_H", true, [](auto &c) { --c.image.img_h; }},
          {"GRID_W", true, [](auto &c) { ++c.image.grid_w; }},
          {"GRID_H", true, [](auto &c) { ++c.image.grid_h; }},
          {"GRID_Y", true, [](auto &c) { c.image.grid_y = (c.image.grid_y + 1) % c.image.grid_h; }},
          {"B_TAP", false, [](auto &c) { ++c.image.b_tap; }},
          {"A_ROW", true, [](auto &c) { ++c.product.a.row; }},
          {"A_ROT", true, [](auto &c) { c.product.a.rot ^= 1; }},
          {"B_ROW", true, [](auto &c) { ++c.product.b.row; }},
          {"M", true, [](auto &c) { --c.product.m; }},
          {"N", true, [](auto &c) { --c.product.n; }},
          {"K", true, [](auto &c) { --c.product.k; }},
          {"OUT_W", true, [](auto &c) { --c.image.out_w; }}};
}

/// Whether the field means something in the command.
bool counts(const NamedChange &change, const isa::ConvCommand &c) {
  const std::string name = change.name;
  if (c.weights && !change.both) return false;
  if (name == "STEP_Y") return c.image.taps_y > 1;
  if (name == "STEP_X") return c.image.taps_x > 1;
  if (name == "B_TAP") return c.image.taps() > 1;
  if (name == "GRID_Y") return c.image.grid_h > 1;
  if (name == "OUT_W") return c.weights && c.image.out_w > 1;
  return true;
}

TEST(VerifyConv, EveryChangedFieldIsFound) {
  const Machine npu = load_config("test8");
  std::map<std::string, int> found;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Compiled right = compiled_image_layer(seed, npu);
    ASSERT_EQ(verify_stream(right, npu), "") << "seed " << seed;
    for (std::size_t i = 0; i < right.stream.size(); ++i) {
      const auto decoded = isa::decode(right.stream[i]);
      const auto *conv = std::get_if<isa::ConvCommand>(&decoded->op);
      if (conv == nullptr || (i + seed) % 5 != 0) continue;
      if (image_views(*conv).empty()) continue; // padding is padding anywhere
      for (const NamedChange &change : changes()) {
        if (!counts(change, *conv)) continue;
        isa::Decoded changed = *decoded;
        change.change(std::get<isa::ConvCommand>(changed.op));
        Compiled wrong = right;
        wrong.stream[i] = isa::encode(changed);
        EXPECT_NE(verify_stream(wrong, npu), "") << "seed " << seed << " command " << i << ": " << change.name;
        ++found[change.name];
      }
    }
  }
  for (const NamedChange &change : changes())
    EXPECT_GT(found[change.name], 0) << change.name << " was never changed";
}

/// Whether the changed stream is refused; what is not has to give the same bits, as where nothing reads the row that is
/// another.
bool is_refused(const Compiled &right, const Compiled &wrong, const Machine &npu, const std::string &what) {
  if (!verify_stream(wrong, npu).empty()) return true;
  const Convolution &conv = *right.layer().conv;
  std::mt19937_64 random(1);
  const auto fill = [&](std::size_t count) {
    std::vector<std::uint16_t> values(count);
    for (std::uint16_t &value : values)
      value = static_cast<std::uint16_t>(0x3c00U + random() % 0x400U);
    return values;
  };
  const LayerOperands operands{fill(conv.image_size()), fill(std::size_t{conv.groups} * conv.k() * conv.n()),
                               fill(std::size_t{conv.m()} * conv.out_channels)};
  EXPECT_EQ(functional_results(wrong, npu, operands), functional_results(right, npu, operands)) << what << ", " << conv;
  return false;
}

/// With strides and with gaps in the grid.
TEST(VerifyConv, EveryChangedFieldOfAStridedWalkIsFound) {
  const Machine npu = load_config("test8");
  const std::vector<NamedChange> strided{
      {"OFF_Y", true, [](auto &c) { ++c.image.off_y; }},
      {"OFF_X", true, [](auto &c) { --c.image.off_x; }},
      {"GRID_W", true, [](auto &c) { ++c.image.grid_w; }},
      {"GRID_Y", true, [](auto &c) { c.image.grid_y = (c.image.grid_y + 1) % c.image.grid_h; }},
      {"A_ROW", true, [](auto &c) { ++c.product.a.row; }},
      {"A_ROT", true, [](auto &c) { c.product.a.rot ^= 1; }},
      {"B_ROW", true, [](auto &c) { ++c.product.b.row; }},
      {"B_TAP", false, [](auto &c) { ++c.image.b_tap; }},
      {"M", true, [](auto &c) { --c.product.m; }},
      {"K", true, [](auto &c) { --c.product.k; }},
      {"PLANE", false, [](auto &c) { ++c.image.plane; }},
      {"PACKED", false, [](auto &c) { c.image.packed = !c.image.packed; }},
      {"STRIDE", false, [](auto &c) { c.image.stride = c.image.stride == 1 ? 2 : c.image.stride - 1; }},
      {"OUT_W", true, [](auto &c) { --c.image.out_w; }},
      {"OUT_H", true, [](auto &c) { --c.image.out_h; }}};
  std::map<std::string, int> found;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Compiled right = compiled_image_layer(seed, npu, true);
    ASSERT_EQ(verify_stream(right, npu), "") << "seed " << seed;
    for (std::size_t i = 0; i < right.stream.size(); ++i) {
      const auto decoded = isa::decode(right.stream[i]);
      const auto *conv = std::get_if<isa::ConvCommand>(&decoded->op);
      if (conv == nullptr || (i + seed) % 5 != 0 || image_views(*conv).empty()) continue;
      for (const NamedChange &change : strided) {
        const std::string name = change.name;
        if (!counts(change, *conv) || (name == "OUT_H" && !conv->weights)) continue;
        isa::Decoded changed = *decoded;
        change.change(std::get<isa::ConvCommand>(changed.op));
        Compiled wrong = right;
        wrong.stream[i] = isa::encode(changed);
        found[name] += is_refused(right, wrong, npu, fmt::format("seed {} command {}: {}", seed, i, name)) ? 1 : 0;
      }
    }
  }
  for (const NamedChange &change : strided)
    EXPECT_GT(found[change.name], 0) << change.name << " was never changed";
}

/// A plane that is loaded from another phase, with another pitch, or a row too far, and a phase of dX that is stored
/// so.
TEST(VerifyConv, EveryChangedMoveOfAPhaseIsFound) {
  const Machine npu = load_config("test8");
  using Move = std::function<void(isa::DmaCommand &, std::uint32_t pitch)>;
  const std::vector<std::pair<const char *, Move>> moves{{"phase", [](auto &d, auto pitch) { d.dram_addr += pitch; }},
                                                         {"pitch", [](auto &d, auto pitch) { d.pitch += pitch; }},
                                                         {"row", [](auto &d, auto) { ++d.spm.row; }},
                                                         {"rotation", [](auto &d, auto) { d.spm.rot ^= 1; }}};
  std::map<std::string, int> found;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Compiled right = compiled_image_layer(seed, npu, true);
    if (right.layer().conv->stride_width == 1) continue;
    for (std::size_t i = 0; i < right.stream.size(); ++i) {
      const auto decoded = isa::decode(right.stream[i]);
      const auto *dma = std::get_if<isa::DmaCommand>(&decoded->op);
      const Tensor tensor = right.info[i].tensor;
      if (dma == nullptr || dma->rows < 2 || (tensor != Tensor::kX && tensor != Tensor::kDX)) continue;
      const std::uint32_t pitch = right.layout.tensors[static_cast<std::size_t>(right.layout.place(0, tensor))].pitch;
      if (right.info[i].spill || (i + seed) % 7 != 0) continue;
      for (const auto &[name, move] : moves) {
        isa::Decoded changed = *decoded;
        move(std::get<isa::DmaCommand>(changed.op), pitch);
        Compiled wrong = right;
        wrong.stream[i] = isa::encode(changed);
        const bool refused = is_refused(right, wrong, npu, fmt::format("seed {} command {}: {}", seed, i, name));
        found[fmt::format("{} {}", to_string(tensor), name)] += refused ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(found.size(), 2 * moves.size());
  for (const auto &[move, count] : found)
    EXPECT_GT(count, 10) << move;
}

TEST(VerifyConv, AGemmOverAnImageIsFound) {
  const Machine npu = load_config("test8");
  Compiled wrong = compiled_image_layer(3, npu);
  for (isa::Command &command : wrong.stream) {
    isa::Decoded decoded = *isa::decode(command);
    const auto *conv = std::get_if<isa::ConvCommand>(&decoded.op);
    if (conv == nullptr) continue;
    decoded.op = isa::GemmCommand(conv->product);
    command = isa::encode(decoded);
    break;
  }
  EXPECT_NE(verify_stream(wrong, npu), "");
}

} // namespace
} // namespace gradweave::compiler
