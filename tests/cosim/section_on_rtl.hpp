// Sections of vector units on the RTL.
#pragma once

#include "device/device.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/memory/memory.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace gradweave::compiler {

/// On the device, whose memory is that of the stream, from address 0 on; and on one whose bus stalls at random.
inline bool run_rtl(const Machine &npu, DeviceMemory &memory, const std::vector<isa::Command> &stream,
                    std::uint64_t at) {
  DeviceOptions stalled;
  stalled.stress = {271, 0.3};
  const std::unique_ptr<Device> rtl = make_rtl_device(npu), model = make_timing_device(npu),
                                slow = make_rtl_device(npu, stalled);
  std::vector<std::uint8_t> image(at);
  memory.read(0, image.data(), image.size());
  for (Device *device : {rtl.get(), model.get(), slow.get()}) {
    EXPECT_EQ(device->allocate(at), 0U);
    device->copy_in(0, image.data(), image.size());
    device->submit(stream);
    if (!device->wait().ok()) return false;
  }
  rtl->copy_out(0, image.data(), image.size());
  memory.write(0, image.data(), image.size());
  std::vector<std::uint8_t> other(at);
  slow->copy_out(0, other.data(), other.size());
  EXPECT_TRUE(other == image) << "a stalling bus changes results";
  EXPECT_EQ(rtl->read_counters().values, model->read_counters().values);
  return true;
}

} // namespace gradweave::compiler
