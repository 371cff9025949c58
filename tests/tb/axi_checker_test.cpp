// AxiChecker: a clean exchange passes, and each rule is broken once.
#include "tb/bus/axi/axi_checker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace gradweave::tb {
namespace {

constexpr unsigned kBus = 16;

/// Pins of one cycle, idle and ready.
struct Cycle {
  AxiMasterPins m;
  AxiSlavePins s;
  Cycle() {
    m.ar.size = m.aw.size = 4;
    m.rready = m.bready = s.arready = s.awready = s.wready = true;
  }
  Cycle &ar(std::uint64_t addr, unsigned beats, std::uint8_t id = 0) { return address(m.ar, addr, beats, id); }
  Cycle &aw(std::uint64_t addr, unsigned beats, std::uint8_t id = 0) { return address(m.aw, addr, beats, id); }
  Cycle &w(bool last) {
    m.w.valid = true;
    m.w.last = last;
    m.w.strb.fill(0xff);
    return *this;
  }
  Cycle &r(bool last, std::uint8_t id = 0) {
    s.r.valid = true;
    s.r.last = last;
    s.r.id = id;
    return *this;
  }
  Cycle &b(std::uint8_t id = 0) {
    s.b.valid = true;
    s.b.id = id;
    return *this;
  }
  Cycle &with(const std::function<void(Cycle &)> &change) {
    change(*this);
    return *this;
  }

private:
  Cycle &address(AxiAddress &a, std::uint64_t addr, unsigned beats, std::uint8_t id) {
    a.valid = true;
    a.addr = addr;
    a.len = static_cast<std::uint8_t>(beats - 1);
    a.wanted = {0, beats * kBus - 1};
    a.id = id;
    return *this;
  }
};

/// The message of the first violation, or "".
std::string run(const std::vector<Cycle> &cycles) {
  AxiChecker checker({kBus});
  try {
    for (std::size_t i = 0; i < cycles.size(); ++i)
      checker.observe(100 + i, cycles[i].m, cycles[i].s);
  } catch (const AxiViolation &e) {
    return e.what();
  }
  return "";
}

TEST(AxiChecker, ACleanExchangePasses) {
  EXPECT_EQ(run({Cycle().ar(0x100, 2, 1).aw(0x100, 2), Cycle().r(false, 1).w(false), Cycle().r(true, 1).w(true),
                 Cycle().b(), Cycle()}),
            "");
}

TEST(AxiChecker, DataBeforeItsAddressPasses) {
  EXPECT_EQ(run({Cycle().w(false), Cycle().w(true), Cycle().aw(0, 2), Cycle().b()}), "");
}

TEST(AxiChecker, WaitingWithTheSamePayloadPasses) {
  const auto wait = [](Cycle &c) { c.s.arready = c.s.awready = c.s.wready = c.m.rready = c.m.bready = false; };
  EXPECT_EQ(run({Cycle().ar(0, 1).aw(0, 1).w(true).with(wait), Cycle().ar(0, 1).aw(0, 1).w(true),
                 Cycle().r(true).b().with(wait), Cycle().r(true).b()}),
            "");
}

TEST(AxiChecker, ResetForgetsWhatIsOutstanding) {
  AxiChecker checker({kBus});
  checker.observe(1, Cycle().ar(0, 1).m, Cycle().s);
  EXPECT_FALSE(checker.idle());
  checker.reset();
  EXPECT_TRUE(checker.idle());
  const Cycle answer = Cycle().r(true);
  EXPECT_THROW(checker.observe(2, answer.m, answer.s), AxiViolation);
}

TEST(AxiChecker, BeatsBeyondAxi4AreRefused) {
  EXPECT_NO_THROW(AxiChecker({128}));
  EXPECT_NO_THROW(AxiChecker({128, 15, 16}));
  for (const unsigned bytes : {0U, 12U, 256U, 2048U})
    EXPECT_THROW(AxiChecker({bytes}), std::invalid_argument) << bytes;
}

/// What is wanted counts in bytes of all ports; all else is the port's own.
TEST(AxiChecker, APortOfSeveralWantsBytesOfTheBus) {
  AxiChecker checker({kBus, 1, 2});
  Cycle whole;
  whole.ar(0xfe0, 2).m.ar.wanted = {3, 4 * kBus - 1};
  EXPECT_NO_THROW(checker.observe(1, whole.m, whole.s));
  Cycle half;
  half.ar(0, 2); // wants the bytes of one port
  try {
    checker.observe(2, half.m, half.s);
    FAIL() << "no exception";
  } catch (const AxiViolation &e) {
    EXPECT_NE(std::string(e.what()).find("cycle 2, port 1, channel AR: USER wants bytes 0 to 31"), std::string::npos)
        << e.what();
  }
}

struct Broken {
  const char *name;
  std::vector<Cycle> cycles;
  const char *message; ///< part of it
};

class AxiCheckerRule : public testing::TestWithParam<Broken> {};

TEST_P(AxiCheckerRule, IsSeen) {
  const std::string message = run(GetParam().cycles);
  const std::string last = "in cycle " + std::to_string(100 + GetParam().cycles.size() - 1) + ", ";
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << "message: " << message;
  EXPECT_NE(message.find(last), std::string::npos) << "message: " << message;
}

std::vector<Broken> rules() {
  const auto ar_waits = [](Cycle &c) { c.s.arready = false; };
  const auto aw_waits = [](Cycle &c) { c.s.awready = false; };
  const auto w_waits = [](Cycle &c) { c.s.wready = false; };
  const auto r_waits = [](Cycle &c) { c.m.rready = false; };
  const auto b_waits = [](Cycle &c) { c.m.bready = false; };
  return {
      {"ArFalls", {Cycle().ar(0, 1).with(ar_waits), Cycle()}, "channel AR: VALID fell"},
      {"ArChanges", {Cycle().ar(0, 1).with(ar_waits), Cycle().ar(64, 1)}, "channel AR: payload changed"},
      {"AwFalls", {Cycle().aw(0, 1).with(aw_waits), Cycle()}, "channel AW: VALID fell"},
      {"AwChanges", {Cycle().aw(0, 1).with(aw_waits), Cycle().aw(0, 2)}, "channel AW: payload changed"},
      {"WFalls", {Cycle().w(true).with(w_waits), Cycle()}, "channel W: VALID fell"},
      {"WDataChanges",
       {Cycle().w(true).with(w_waits), Cycle().w(true).with([](Cycle &c) { c.m.w.data[kBus - 1] = 1; })},
       "channel W: payload changed"},
      {"WStrbChanges",
       {Cycle().w(true).with(w_waits), Cycle().w(true).with([](Cycle &c) { c.m.w.strb[1] = 1; })},
       "channel W: payload changed"},
      {"RFalls", {Cycle().ar(0, 1), Cycle().r(true).with(r_waits), Cycle()}, "channel R: VALID fell"},
      {"RChanges",
       {Cycle().ar(0, 1), Cycle().r(true).with(r_waits),
        Cycle().r(true).with([](Cycle &c) { c.s.r.resp = AxiResp::kSlvErr; })},
       "channel R: payload changed"},
      {"BFalls", {Cycle().aw(0, 1).w(true), Cycle().b().with(b_waits), Cycle()}, "channel B: VALID fell"},
      {"BChanges", {Cycle().aw(0, 1).w(true), Cycle().b().with(b_waits), Cycle().b(1)}, "channel B: payload changed"},
      {"NotIncr", {Cycle().ar(0, 1).with([](Cycle &c) { c.m.ar.burst = 0; })}, "channel AR: burst type 0 is not INCR"},
      {"Narrow",
       {Cycle().aw(0, 1).with([](Cycle &c) { c.m.aw.size = 2; })},
       "channel AW: SIZE 2 is not the port's width"},
      {"WantsNothing",
       {Cycle().ar(0, 2).with([](Cycle &c) {
         c.m.ar.wanted = {5, 4};
       })},
       "channel AR: USER wants bytes 5 to 4, which do not begin in the first and end in the last of 2 beats"},
      {"BeatUnwanted",
       {Cycle().aw(0, 2).with([](Cycle &c) {
         c.m.aw.wanted = {0, kBus - 1};
       })},
       "channel AW: USER wants bytes 0 to 15, which do not begin in the first and end in the last of 2 beats"},
      {"WantsBeyondTheBurst",
       {Cycle().ar(0, 2).with([](Cycle &c) {
         c.m.ar.wanted = {0, 2 * kBus};
       })},
       "channel AR: USER wants bytes 0 to 32, which do not begin in the first and end in the last of 2 beats"},
      {"Crosses4KbRead", {Cycle().ar(0xff0, 2)}, "channel AR: burst of 2 beats at 0xff0 crosses a 4 KB boundary"},
      {"Crosses4KbWrite", {Cycle().aw(0x1ff8, 2)}, "channel AW: burst of 2 beats at 0x1ff8 crosses a 4 KB boundary"},
      {"WlastEarly", {Cycle().aw(0, 2).w(true)}, "channel W: WLAST on beat 1 of 2"},
      {"WlastMissing", {Cycle().aw(0, 2), Cycle().w(false), Cycle().w(false)}, "channel W: no WLAST on beat 2"},
      {"StrobeBelowStart", {Cycle().aw(0x104, 1), Cycle().w(true)}, "channel W: strobe of byte 0"},
      {"RUnasked", {Cycle().ar(0, 1, 0), Cycle().r(true, 1)}, "channel R: data for ID 1"},
      {"RlastEarly", {Cycle().ar(0, 2), Cycle().r(true)}, "channel R: RLAST with 1 beats"},
      {"RlastMissing", {Cycle().ar(0, 1), Cycle().r(false)}, "channel R: no RLAST"},
      {"BUnasked", {Cycle().b()}, "channel B: response for ID 0"},
      {"BBeforeData", {Cycle().aw(0, 2), Cycle().w(false), Cycle().b()}, "channel B: response for ID 0"},
  };
}

INSTANTIATE_TEST_SUITE_P(Rules, AxiCheckerRule, testing::ValuesIn(rules()),
                         [](const auto &p) { return std::string(p.param.name); });

} // namespace
} // namespace gradweave::tb
