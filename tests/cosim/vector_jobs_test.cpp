// Operators of elements, compiled to commands, on the RTL: every bit of the graph's golden execution, and the cycles of
// the timing model.
#include "device/device.hpp"
#include "tests/compiler/elements.hpp"

namespace gradweave::compiler {
namespace {

using graph::ElementType;
using graph::TensorId;

/// On the device, whose memory is that of the stream, from address 0 on.
bool run_rtl(const Machine &npu, DeviceMemory &memory, const std::vector<isa::Command> &stream, std::uint64_t at) {
  const std::unique_ptr<Device> rtl = make_rtl_device(npu), model = make_timing_device(npu);
  std::vector<std::uint8_t> image(at);
  memory.read(0, image.data(), image.size());
  for (Device *device : {rtl.get(), model.get()}) {
    EXPECT_EQ(device->allocate(at), 0U);
    device->copy_in(0, image.data(), image.size());
    device->submit(stream);
    if (!device->wait().ok()) return false;
  }
  rtl->copy_out(0, image.data(), image.size());
  memory.write(0, image.data(), image.size());
  EXPECT_EQ(rtl->read_counters().values, model->read_counters().values);
  return true;
}

class ElementsOnRtl : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

TEST_P(ElementsOnRtl, Gelu) {
  Elements e(npu_);
  e.add("Gelu", {e.input("x", ElementType::kBf16, {40, 97})}, ElementType::kBf16, "y");
  e.check({}, run_rtl);
}

TEST_P(ElementsOnRtl, BiasAndRelu) {
  Elements e(npu_);
  const TensorId x = e.input("x", ElementType::kFp32, {37, 33}), b = e.input("b", ElementType::kFp32, {33});
  e.add("Relu", {e.add("Bias", {x, b}, ElementType::kBf16, "sum")}, ElementType::kBf16, "y");
  e.check({}, run_rtl);
}

TEST_P(ElementsOnRtl, AdamW) {
  Elements e(npu_);
  e.check(add_adamw(e, {23, 31}), run_rtl);
}

INSTANTIATE_TEST_SUITE_P(Npus, ElementsOnRtl, testing::Values("test8v2", "test6x10v1", "test8c2v8"));

} // namespace
} // namespace gradweave::compiler
