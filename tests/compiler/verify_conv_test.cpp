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

Compiled compiled_image_layer(std::uint64_t seed, const Machine &npu) {
  Dice dice(seed);
  const Layer layer = image_layer(random_image_convolution(dice));
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
  if (name == "OUT_W") return c.weights;
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
