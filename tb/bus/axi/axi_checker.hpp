// Protocol checker of an AXI4 interface with full-width INCR bursts.
#pragma once

#include "tb/bus/axi/axi_types.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>

namespace gradweave::tb {

/// A rule of the AXI4 specification is broken; what() names cycle, channel and rule.
class AxiViolation : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Watches both directions of the interface once a cycle. Rules, of both sides:
///   - a valid stays up and its payload stays the same until ready;
///   - bursts are INCR, of full-width beats of at most 128 bytes, and do not cross a 4 KB boundary;
///   - WLAST is up on the last beat of a burst and on no other; no strobe is set below an unaligned start address;
///   - R answers an outstanding read of its ID, in order, RLAST on its last beat and no other;
///   - B answers an outstanding write of its ID whose data is complete.
class AxiChecker {
public:
  /// Throws std::invalid_argument if AXI4 has no such beats: 1 to 128 bytes, a power of two.
  explicit AxiChecker(const PortPlace &port);

  /// What was driven in `cycle`. Throws AxiViolation.
  void observe(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &s);
  /// Forgets everything outstanding; for a cycle in reset.
  void reset();
  /// Transactions without their last answer.
  bool idle() const;

private:
  struct Write {
    std::uint8_t id;
    unsigned offset; ///< of the start address within a beat
    unsigned beats, beats_seen;
  };
  struct Beat {
    bool last;
    unsigned first_byte; ///< lowest byte written; bytes_ if none
  };

  void check_stable(const AxiMasterPins &m, const AxiSlavePins &s) const;
  void check_address(const char *channel, const AxiAddress &a) const;
  void observe_read(const AxiMasterPins &m, const AxiSlavePins &s);
  void observe_write(const AxiMasterPins &m, const AxiSlavePins &s);
  void match_write_data();
  void hold(const AxiMasterPins &m, const AxiSlavePins &s);
  unsigned first_byte(const AxiWriteData &w) const;
  [[noreturn]] void fail(const char *channel, const std::string &rule) const;

  PortPlace port_;
  unsigned bytes_; ///< of a beat
  std::uint64_t cycle_ = 0;
  AxiMasterPins held_m_; ///< its valid channels: driven last cycle and not taken
  AxiSlavePins held_s_;
  std::array<std::deque<unsigned>, 256> reads_; ///< by ID: beats still to come, per burst
  std::array<unsigned, 256> answerable_{};      ///< by ID: writes whose data is complete, not answered
  std::deque<Write> open_writes_;               ///< address seen, data not complete
  std::deque<Beat> early_beats_;                ///< data seen before its address
  unsigned outstanding_ = 0;
};

} // namespace gradweave::tb
