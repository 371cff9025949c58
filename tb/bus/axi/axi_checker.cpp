#include "tb/bus/axi/axi_checker.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gradweave::tb {

namespace {

bool same(const AxiAddress &a, const AxiAddress &b) {
  return a.id == b.id && a.addr == b.addr && a.len == b.len && a.size == b.size && a.burst == b.burst &&
         a.wanted.first == b.wanted.first && a.wanted.last == b.wanted.last;
}

} // namespace

AxiChecker::AxiChecker(const PortPlace &port) : port_(port), bytes_(port.bytes) {
  if (bytes_ == 0 || bytes_ > kMaxPortBytes || (bytes_ & (bytes_ - 1)) != 0)
    throw std::invalid_argument(fmt::format("an AXI4 beat has 1, 2, 4 ... {} bytes, not {}", kMaxPortBytes, bytes_));
}

void AxiChecker::reset() {
  held_m_.ar.valid = held_m_.aw.valid = held_m_.w.valid = held_s_.r.valid = held_s_.b.valid = false;
  for (auto &bursts : reads_)
    bursts.clear();
  answerable_.fill(0);
  open_writes_.clear();
  early_beats_.clear();
  outstanding_ = 0;
}

bool AxiChecker::idle() const { return outstanding_ == 0 && early_beats_.empty(); }

void AxiChecker::fail(const char *channel, const std::string &rule) const {
  const std::string port = port_.ports == 1 ? "" : fmt::format("port {}, ", port_.index);
  throw AxiViolation(fmt::format("AXI protocol violation in cycle {}, {}channel {}: {}", cycle_, port, channel, rule));
}

void AxiChecker::observe(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &s) {
  cycle_ = cycle;
  check_stable(m, s);
  observe_read(m, s);
  observe_write(m, s);
  hold(m, s);
}

void AxiChecker::check_stable(const AxiMasterPins &m, const AxiSlavePins &s) const {
  const auto check = [this](const char *channel, bool held, bool valid, auto &&unchanged) {
    if (!held) return;
    if (!valid) fail(channel, "VALID fell before READY");
    if (!unchanged()) fail(channel, "payload changed while VALID waited for READY");
  };
  check("AR", held_m_.ar.valid, m.ar.valid, [&] { return same(held_m_.ar, m.ar); });
  check("AW", held_m_.aw.valid, m.aw.valid, [&] { return same(held_m_.aw, m.aw); });
  check("W", held_m_.w.valid, m.w.valid, [&] {
    return held_m_.w.last == m.w.last && std::memcmp(held_m_.w.data.data(), m.w.data.data(), bytes_) == 0 &&
           std::memcmp(held_m_.w.strb.data(), m.w.strb.data(), (bytes_ + 7) / 8) == 0;
  });
  check("R", held_s_.r.valid, s.r.valid, [&] {
    return held_s_.r.id == s.r.id && held_s_.r.last == s.r.last && held_s_.r.resp == s.r.resp &&
           std::memcmp(held_s_.r.data.data(), s.r.data.data(), bytes_) == 0;
  });
  check("B", held_s_.b.valid, s.b.valid, [&] { return held_s_.b.id == s.b.id && held_s_.b.resp == s.b.resp; });
}

void AxiChecker::hold(const AxiMasterPins &m, const AxiSlavePins &s) {
  const auto keep = [](auto &held, const auto &driven, bool ready) {
    if (driven.valid && !ready)
      held = driven;
    else
      held.valid = false;
  };
  keep(held_m_.ar, m.ar, s.arready);
  keep(held_m_.aw, m.aw, s.awready);
  keep(held_m_.w, m.w, s.wready);
  keep(held_s_.r, s.r, m.rready);
  keep(held_s_.b, s.b, m.bready);
}

void AxiChecker::check_address(const char *channel, const AxiAddress &a) const {
  if (a.burst != kAxiBurstIncr) fail(channel, fmt::format("burst type {} is not INCR", a.burst));
  if ((1U << a.size) != bytes_) fail(channel, fmt::format("SIZE {} is not the port's width, {} bytes", a.size, bytes_));
  const std::uint64_t first = a.addr & ~std::uint64_t{bytes_ - 1};
  const std::uint64_t last = first + std::uint64_t{a.beats()} * bytes_ - 1;
  if (first / kAxiBoundary != last / kAxiBoundary)
    fail(channel, fmt::format("burst of {} beats at {:#x} crosses a 4 KB boundary", a.beats(), a.addr));
  const unsigned bus_bytes = port_.bus_bytes();
  if (a.wanted.first >= bus_bytes || a.wanted.last < a.wanted.first || a.wanted.last / bus_bytes != a.len)
    fail(channel,
         fmt::format("USER wants bytes {} to {}, which do not begin in the first and end in the last of {} beats",
                     a.wanted.first, a.wanted.last, a.beats()));
}

void AxiChecker::observe_read(const AxiMasterPins &m, const AxiSlavePins &s) {
  if (s.r.valid && m.rready) {
    auto &bursts = reads_[s.r.id];
    if (bursts.empty()) fail("R", fmt::format("data for ID {}, which has no outstanding read", s.r.id));
    const bool last = --bursts.front() == 0;
    if (s.r.last && !last) fail("R", fmt::format("RLAST with {} beats of the burst missing", bursts.front()));
    if (last && !s.r.last) fail("R", "no RLAST on the last beat of the burst");
    if (last) {
      bursts.pop_front();
      --outstanding_;
    }
  }
  if (m.ar.valid) check_address("AR", m.ar);
  if (m.ar.valid && s.arready) {
    reads_[m.ar.id].push_back(m.ar.beats());
    ++outstanding_;
  }
}

unsigned AxiChecker::first_byte(const AxiWriteData &w) const {
  unsigned byte = 0;
  while (byte < bytes_ && !((w.strb[byte / 8] >> (byte % 8)) & 1U))
    ++byte;
  return byte;
}

void AxiChecker::observe_write(const AxiMasterPins &m, const AxiSlavePins &s) {
  if (s.b.valid && m.bready) {
    if (answerable_[s.b.id] == 0) fail("B", fmt::format("response for ID {}, which has no complete write", s.b.id));
    --answerable_[s.b.id];
    --outstanding_;
  }
  if (m.aw.valid) check_address("AW", m.aw);
  if (m.aw.valid && s.awready) {
    open_writes_.push_back({m.aw.id, static_cast<unsigned>(m.aw.addr % bytes_), m.aw.beats(), 0});
    ++outstanding_;
  }
  if (m.w.valid && s.wready) early_beats_.push_back({m.w.last, first_byte(m.w)});
  match_write_data();
}

void AxiChecker::match_write_data() {
  while (!open_writes_.empty() && !early_beats_.empty()) {
    Write &write = open_writes_.front();
    const Beat beat = early_beats_.front();
    early_beats_.pop_front();
    if (write.beats_seen == 0 && beat.first_byte < write.offset)
      fail("W",
           fmt::format("strobe of byte {} is set below the start address, byte {}", beat.first_byte, write.offset));
    const bool last = ++write.beats_seen == write.beats;
    if (beat.last && !last) fail("W", fmt::format("WLAST on beat {} of {}", write.beats_seen, write.beats));
    if (last && !beat.last) fail("W", fmt::format("no WLAST on beat {}, the last", write.beats));
    if (last) {
      ++answerable_[write.id];
      open_writes_.pop_front();
    }
  }
}

} // namespace gradweave::tb
