// Streams that add, on the functional model, and their semaphores.
#include "train/system/sum_stream.hpp"

#include "base/random/keyed_random.hpp"
#include "device/device.hpp"
#include "sw_models/config/machine.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace gradweave::runtime::train {
namespace {

std::vector<float> drawn(const std::string &name, std::size_t count) {
  const KeyedRandom random(1, name);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(random.bell(i)));
  return values;
}

/// Posts less waits of each semaphore.
std::map<std::uint8_t, int> left_over(const std::vector<isa::Command> &stream) {
  std::map<std::uint8_t, int> left;
  for (const isa::Command &command : stream) {
    const isa::Sync sync = isa::decode(command)->sync;
    for (const std::uint8_t post : sync.posts)
      if (post != isa::kNoSemaphore) ++left[post];
    for (const isa::Wait &wait : sync.waits)
      if (wait.semaphore != isa::kNoSemaphore) left[wait.semaphore] -= wait.count;
  }
  return left;
}

/// From one element to many tiles, on scratchpads of all sizes.
TEST(SumStream, AddsEveryElement) {
  for (const char *npu : {"test2x2", "test4x8", "test13x7", "test2x64c8", "small"}) {
    const Machine machine = load_machine(std::string("configs/") + npu + ".toml");
    for (const std::size_t elements : {1U, 7U, 1024U, 1025U, 30011U}) {
      SCOPED_TRACE(std::string(npu) + ", " + std::to_string(elements));
      const SumStream sum = sum_stream(elements, machine);
      const auto device = make_functional_device(machine, {});
      const std::uint64_t base = device->allocate(sum.dram_bytes);
      ASSERT_EQ(base, 0U); // as the stream has it
      const std::vector<float> a = drawn("a", elements), b = drawn("b", elements);
      std::vector<float> c(elements + 1, -1);
      device->copy_in(sum.a, a.data(), elements * sizeof(float));
      device->copy_in(sum.b, b.data(), elements * sizeof(float));
      device->submit(sum.stream);
      ASSERT_TRUE(device->wait().ok());
      device->copy_out(sum.c, c.data(), elements * sizeof(float));
      for (std::size_t i = 0; i < elements; ++i)
        ASSERT_EQ(c[i], a[i] + b[i]) << i;
      for (const auto &[semaphore, left] : left_over(sum.stream))
        EXPECT_EQ(left, 0) << int{semaphore};
    }
  }
}

} // namespace
} // namespace gradweave::runtime::train
