// A ring of commands whose tail the host moves while the NPU runs, and the log of marks, as software sees them.
#include "processor_bench.hpp"

#include <gtest/gtest.h>

namespace {

using namespace gradweave;
using isa::Counter;
using isa::Csr;
using isa::ErrorCode;
using Bench = test::ProcessorBench;

constexpr std::uint64_t kSeed = 7;
constexpr std::uint32_t kBusy = 1, kDone = 2, kError = 4, kIrq = 8;
constexpr std::uint32_t kStart = 1, kReset = 2, kClearIrq = 4, kClose = 8, kTake = 16;
constexpr std::uint32_t kThere = 1U << 16U;
constexpr std::uint32_t kMarks = 16;

isa::Command sync(std::size_t engine) {
  return isa::encode({isa::SyncCommand{static_cast<std::uint8_t>(engine)}, {}, 0});
}
isa::Command mark(std::uint16_t tag) { return isa::encode({isa::SyncCommand{1, true}, {}, tag}); }

/// A host with a ring.
class Ring {
public:
  explicit Ring(std::uint32_t places, std::uint32_t watchdog = 65536, double stall = 0, std::uint64_t seed = kSeed)
      : bench(seed, stall), places_(places) {
    bench.prepare({}, watchdog);
    EXPECT_EQ(bench.write(Csr::RING_SIZE, places), Bench::kOkay);
  }

  /// Writes a command behind the others, but not the tail.
  void put(const isa::Command &command) {
    for (std::size_t w = 0; w < isa::kCommandWords; ++w)
      bench.memory.write32(Bench::kStream + 64 * (tail % places_) + 4 * w, command.words[w]);
    sent.push_back(command);
    ++tail;
  }
  std::uint32_t tell() { return bench.write(Csr::CMD_COUNT, tail); }
  std::uint32_t control(std::uint32_t bits) { return bench.write(Csr::CTRL, bits); }
  void run(std::uint64_t cycles) {
    for (std::uint64_t i = 0; i < cycles; ++i)
      bench.cycle();
  }
  void expect_started() {
    ASSERT_EQ(bench.started.size(), sent.size());
    std::vector<bool> seen(sent.size());
    for (const Bench::Started &s : bench.started) {
      EXPECT_FALSE(seen[s.index]) << "twice";
      seen[s.index] = true;
      EXPECT_EQ(s.engine, sent[s.index].get(isa::field::ENGINE)) << "command " << s.index;
    }
  }
  void finish() {
    EXPECT_EQ(control(kClose), Bench::kOkay);
    while ((bench.read(Csr::STATUS) & kBusy) != 0) {
    }
  }

  Bench bench;
  std::uint32_t tail = 0;
  std::vector<isa::Command> sent;

private:
  std::uint32_t places_;
};

TEST(Ring, TakesCommandsWhileTheNpuRuns) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Ring ring(32, 65536, seed % 2 == 0 ? 0.3 : 0, seed);
    std::mt19937_64 random(seed);
    EXPECT_EQ(ring.control(kStart), Bench::kOkay);
    while (ring.tail < 200) {
      const std::uint32_t room = 32 - (ring.tail - ring.bench.read(Csr::RING_HEAD));
      for (std::uint32_t n = room == 0 ? 0 : random() % (room + 1); n > 0; --n)
        ring.put(sync(random() % Bench::kEngines));
      EXPECT_EQ(ring.tell(), Bench::kOkay);
      ring.run(random() % 60);
    }
    ring.finish();
    EXPECT_EQ(ring.bench.read(Csr::STATUS), kDone | kIrq);
    EXPECT_EQ(ring.bench.read(Csr::RETIRED), ring.tail);
    EXPECT_EQ(ring.bench.read(Csr::RING_HEAD), ring.tail);
    ring.expect_started();
  }
}

TEST(Ring, MayBeFullButNotMore) {
  Ring ring(32);
  ring.bench.engine_hangs = {true, true, true}; // nothing completes, so that soon nothing is fetched
  ring.control(kStart);
  for (int i = 0; i < 32; ++i)
    ring.put(sync(0));
  EXPECT_EQ(ring.tell(), Bench::kOkay);
  ring.run(400);
  const std::uint32_t head = ring.bench.read(Csr::RING_HEAD);
  EXPECT_GT(head, 0U);
  EXPECT_LT(head, 32U);
  const auto write = [&](std::uint32_t tail) { return ring.bench.write(Csr::CMD_COUNT, tail); };
  EXPECT_EQ(write(head + 33), Bench::kSlvErr);
  EXPECT_EQ(write(31), Bench::kSlvErr) << "a tail does not fall";
  EXPECT_EQ(ring.bench.read(Csr::CMD_COUNT), 32U) << "what was refused changes nothing";
  while (ring.tail < head + 32)
    ring.put(sync(0));
  EXPECT_EQ(ring.tell(), Bench::kOkay);
  EXPECT_EQ(write(head + 33), Bench::kSlvErr);
  ring.bench.engine_hangs = {};
  ring.finish();
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kDone | kIrq);
  ring.expect_started();
}

TEST(Ring, ThatIsIdleIsNoStandstill) {
  Ring ring(32, 20);
  ring.control(kStart);
  ring.run(500);
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kBusy);
  ring.put(sync(0));
  ring.tell();
  ring.run(500);
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kBusy);
  EXPECT_EQ(ring.bench.read(Csr::RETIRED), 1U);
  ring.finish();
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kDone | kIrq);
}

TEST(Ring, InWhichACommandHangsStandsStill) {
  Ring ring(32, 50);
  ring.bench.engine_hangs = {true, false, false};
  ring.control(kStart);
  ring.put(sync(0));
  ring.tell();
  EXPECT_TRUE(ring.bench.wait(500));
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kError | kIrq);
  EXPECT_EQ(ring.bench.read(Csr::ERR_CODE), static_cast<std::uint32_t>(ErrorCode::WATCHDOG));
  EXPECT_EQ(ring.bench.write(Csr::CMD_COUNT, 2), Bench::kOkay) << "a run that stopped leaves all registers to the host";
  EXPECT_EQ(ring.control(kClose), Bench::kSlvErr);
}

TEST(Ring, IsRefusedWhereItCannotBe) {
  const auto error = [](std::uint32_t places, std::uint32_t count, std::uint64_t offset) {
    Ring ring(places);
    ring.bench.write(Csr::CMD_ADDR_LO, static_cast<std::uint32_t>(Bench::kStream + offset));
    ring.bench.write(Csr::CMD_COUNT, count);
    ring.control(kStart);
    ring.run(60);
    return ring.bench.read(Csr::ERR_CODE);
  };
  constexpr auto kBad = static_cast<std::uint32_t>(ErrorCode::BAD_START);
  EXPECT_EQ(error(32, 0, 0), 0U);
  EXPECT_EQ(error(32, 0, 2048), 0U);
  EXPECT_EQ(error(32, 0, 1024), kBad);
  EXPECT_EQ(error(33, 0, 0), kBad);
  EXPECT_EQ(error(64, 65, 0), kBad);
  EXPECT_EQ(error(static_cast<std::uint32_t>((Bench::kDramSize - 0x1000) / 64 + 32), 0, 0), kBad);
}

TEST(Ring, IsClosedOnceAndOnlyWhenOpen) {
  Ring ring(32);
  EXPECT_EQ(ring.control(kClose), Bench::kSlvErr) << "before the start";
  ring.control(kStart);
  EXPECT_EQ(ring.control(kReset), Bench::kSlvErr) << "while it runs";
  EXPECT_EQ(ring.control(kClose), Bench::kOkay);
  EXPECT_EQ(ring.control(kClose), Bench::kSlvErr);
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kDone | kIrq);
}

TEST(Ring, BeginsAgainAfterAnyEnd) {
  Ring ring(32);
  for (int round = 0; round < 3; ++round) {
    ring.tail = 0;
    ring.sent.clear();
    ring.bench.started.clear();
    EXPECT_EQ(ring.bench.write(Csr::CMD_COUNT, 0), Bench::kOkay);
    EXPECT_EQ(ring.control(kStart), Bench::kOkay);
    for (int i = 0; i < 5; ++i)
      ring.put(i == 3 && round == 1 ? isa::Command{} : sync(i % 3)); // one round ends by an illegal command
    ring.tell();
    if (round == 1) {
      EXPECT_TRUE(ring.bench.wait());
      EXPECT_EQ(ring.bench.read(Csr::ERR_INDEX), 3U);
      EXPECT_EQ(ring.control(kReset), Bench::kOkay);
      continue;
    }
    ring.finish();
    EXPECT_EQ(ring.bench.read(Csr::RETIRED), 5U);
    ring.expect_started();
  }
  // No ring any more: the run ends by itself.
  ring.bench.write(Csr::RING_SIZE, 0);
  ring.bench.prepare({sync(0), sync(1)});
  ring.control(kStart);
  EXPECT_TRUE(ring.bench.wait());
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kDone | kIrq);
}

TEST(Marks, AreLoggedInOrderAndRaiseTheInterrupt) {
  Ring ring(32);
  ring.control(kStart);
  for (std::uint16_t tag = 0; tag < 5; ++tag)
    ring.put(mark(static_cast<std::uint16_t>(1000 + tag)));
  ring.tell();
  EXPECT_TRUE(ring.bench.wait());
  ring.run(200);
  std::uint64_t before = 0;
  for (std::uint32_t tag = 1000; tag < 1005; ++tag) {
    EXPECT_EQ(ring.bench.read(Csr::STATUS), kBusy | kIrq);
    EXPECT_EQ(ring.bench.read(Csr::MARK_TAG), kThere | tag);
    const std::uint64_t cycle = ring.bench.read(Csr::MARK_CYCLE_LO);
    EXPECT_EQ(ring.bench.read(Csr::MARK_CYCLE_HI), 0U);
    EXPECT_GT(cycle, before);
    before = cycle;
    EXPECT_EQ(ring.control(kTake), Bench::kOkay);
  }
  EXPECT_EQ(ring.bench.read(Csr::MARK_TAG), 0U);
  EXPECT_EQ(ring.bench.read(Csr::MARK_CYCLE_LO), 0U);
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kBusy);
  EXPECT_EQ(ring.control(kTake), Bench::kSlvErr);
  ring.finish();
}

TEST(Marks, WaitForRoomInTheLogAndAreNotLost) {
  Ring ring(64, 30);
  ring.control(kStart);
  for (std::uint16_t tag = 0; tag < 40; ++tag)
    ring.put(mark(tag));
  ring.tell();
  for (std::uint32_t tag = 0; tag < 40; ++tag) {
    ring.run(300); // much longer than the watchdog
    EXPECT_EQ(ring.bench.read(Csr::RETIRED), std::min(40U, tag + kMarks));
    EXPECT_EQ(ring.bench.read(Csr::MARK_TAG), kThere | tag);
    EXPECT_EQ(ring.control(kTake), Bench::kOkay);
  }
  ring.finish();
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kDone | kIrq);
}

TEST(Marks, StayAfterTheEndAndAreGoneWithTheNextStart) {
  Ring ring(32);
  ring.control(kStart);
  ring.put(mark(77));
  ring.tell();
  ring.finish();
  EXPECT_EQ(ring.control(kClearIrq), Bench::kOkay);
  EXPECT_EQ(ring.bench.read(Csr::STATUS), kDone | kIrq) << "a mark is in the log";
  EXPECT_EQ(ring.bench.read(Csr::MARK_TAG), kThere | 77U);
  ring.bench.write(Csr::CMD_COUNT, 0);
  ring.control(kStart);
  EXPECT_EQ(ring.bench.read(Csr::MARK_TAG), 0U);
}

} // namespace
