// Commands that come while the NPU runs: RTL and timing model agree to the cycle on what a host does to a ring, and the
// functional model on the bits.
#include "app/validate/corpus/profile.hpp"
#include "app/validate/corpus/random_stream.hpp"
#include "base/random/dice.hpp"
#include "device/device.hpp"
#include "isa/assembler.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gradweave::test {
namespace {

constexpr std::uint64_t kMemory = 2U << 20U;

/// What a host saw, and when.
struct Host {
  std::vector<timing::HostWrite> writes; ///< cycles: those in which the NPU took them
  std::vector<std::uint64_t> times;      ///< after each call
  std::vector<timing::Mark> marks;
  RunStatus status;
  std::uint64_t wraps = 0, full = 0; ///< times round the ring; appends that had to wait for room
};

/// Feeds a stream to a ring by the dice: pieces of all sizes, MARKs between them, pauses shorter and longer than what
/// the NPU needs, marks taken at once or when there is no other way.
class RandomHost {
public:
  RandomHost(Device &device, const std::vector<isa::Command> &stream, std::uint64_t seed)
      : device_(device), stream_(stream), dice_(seed), places_(32 * dice_.between(1, 3)), slow_(dice_.below(3)) {}

  Host run() {
    device_.open(places_);
    note();
    bool goes_on = true;
    std::size_t at = 0;
    while (at < stream_.size() && goes_on) {
      const std::size_t most = std::min<std::size_t>(stream_.size() - at, places_ - 1);
      const std::size_t size = std::min<std::size_t>(most, 1 + dice_.below(1U << dice_.below(6)));
      goes_on = make_room(size + 1);
      if (!goes_on) break;
      append({stream_.begin() + static_cast<std::ptrdiff_t>(at),
              stream_.begin() + static_cast<std::ptrdiff_t>(at + size)});
      at += size;
      goes_on = pause();
    }
    host_.writes.push_back({timing::HostWrite::Kind::kClose, device_.close(), 0});
    note();
    while (device_.advance(timing::kNever))
      take();
    note();
    while (take()) {
    }
    host_.status = device_.wait();
    return host_;
  }

private:
  void note() { host_.times.push_back(device_.now()); }

  bool take() {
    const auto mark = device_.take_mark();
    if (!mark) return false;
    host_.marks.push_back(*mark);
    host_.writes.push_back({timing::HostWrite::Kind::kTakeMark, device_.now() - HostLatency::kAnswer, 0});
    note();
    return true;
  }

  bool make_room(std::size_t commands) {
    if (device_.room() < commands) ++host_.full;
    while (device_.room() < commands) {
      if (!take() && !device_.advance(timing::kNever)) return false;
      note();
    }
    return true;
  }

  void append(std::vector<isa::Command> piece) {
    if (dice_.chance(0.8)) piece.push_back(mark());
    if (appended_ / places_ != (appended_ + piece.size()) / places_) ++host_.wraps;
    appended_ += piece.size();
    host_.writes.push_back(
        {timing::HostWrite::Kind::kTail, device_.append(piece), static_cast<std::uint32_t>(appended_)});
    unmarked_ = piece.back().get(isa::field::OPCODE) == static_cast<std::uint32_t>(isa::Opcode::MARK)
                    ? 0
                    : unmarked_ + piece.size();
    note();
    if (unmarked_ + 34 > places_) append_mark(); // or the room of these is never known
  }
  void append_mark() {
    unmarked_ = 0;
    if (!make_room(1)) return;
    ++appended_;
    host_.writes.push_back(
        {timing::HostWrite::Kind::kTail, device_.append({mark()}), static_cast<std::uint32_t>(appended_)});
    note();
  }

  isa::Command mark() {
    return isa::encode({isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::STORE), true}, {}, tag_++});
  }

  bool pause() {
    const std::uint64_t cycles = slow_ == 0 ? dice_.below(20) : slow_ == 1 ? dice_.below(400) : dice_.below(8000);
    const std::uint64_t until = device_.now() + cycles;
    while (device_.now() < until) {
      if (!device_.advance(until)) return false;
      note();
      if (!dice_.chance(0.5) || !take()) break;
    }
    return true;
  }

  Device &device_;
  const std::vector<isa::Command> &stream_;
  Dice dice_;
  std::uint32_t places_;
  std::uint64_t slow_;
  std::uint64_t appended_ = 0, unmarked_ = 0;
  std::uint16_t tag_ = 0;
  Host host_;
};

/// Without the last ones of which nothing happened: after an error the host sees it on the RTL when the bus is quiet, and
/// may have gone on appending.
std::vector<timing::CommandTimes> known(std::vector<timing::CommandTimes> times) {
  while (!times.empty() && times.back() == timing::CommandTimes{})
    times.pop_back();
  return times;
}

class Ring : public testing::TestWithParam<const char *> {};

TEST_P(Ring, IsTheSameOnRtlAndModelToTheCycle) {
  const Machine npu = load_machine(fmt::format("configs/{}.toml", GetParam()));
  const auto rtl = make_rtl_device(npu);
  const auto model = make_timing_device(npu);
  for (const auto &device : {rtl.get(), model.get()})
    ASSERT_EQ(device->allocate(kMemory), 0U);
  std::uint64_t wraps = 0, full = 0, errors = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("{} seed {}", GetParam(), seed));
    const auto stream = corpus::make_stream(npu, corpus::Profile::kBoth, seed, 60).commands;
    if (stream.size() > 2000) continue;
    const Host on_rtl = RandomHost(*rtl, stream, seed).run();
    const Host on_model = RandomHost(*model, stream, seed).run();
    EXPECT_EQ(on_rtl.status.error, on_model.status.error);
    EXPECT_EQ(on_rtl.status.error_index, on_model.status.error_index);
    if (on_rtl.status.ok()) {
      EXPECT_EQ(on_rtl.times, on_model.times);
      EXPECT_EQ(on_rtl.marks, on_model.marks);
    }
    ASSERT_EQ(known(rtl->command_times()), known(model->command_times()));
    ASSERT_EQ(rtl->read_counters().values, model->read_counters().values);
    wraps += on_rtl.wraps;
    full += on_rtl.full;
    errors += on_rtl.status.ok() ? 0 : 1;
    for (const auto &device : {rtl.get(), model.get()})
      device->reset();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(wraps, 20U);
  EXPECT_GT(full, 5U);
  EXPECT_GT(errors, 0U);
}

INSTANTIATE_TEST_SUITE_P(Npus, Ring,
                         testing::Values("test8", "test6x10", "test13x7", "test2x64c8", "test8c8", "test8p2"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace gradweave::test
