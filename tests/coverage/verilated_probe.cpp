#include "tests/coverage/verilated_probe.hpp"

#include "Vnpu.h"
#include "Vnpu___024root.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <unistd.h>
#include <verilated_cov.h>

namespace gradweave::coverage {

namespace {

/// The low bits of a signal of any width; little-endian bytes are the same in all of Verilator's types.
template <class Signal> std::uint64_t low_bits(const Signal &signal) {
  std::uint64_t value = 0;
  std::memcpy(&value, &signal, std::min(sizeof(value), sizeof(signal)));
  return value;
}

/// `count` elements of a packed vector.
template <class Element, class Signal> std::vector<std::uint32_t> elements(const Signal &signal, std::size_t count) {
  std::vector<std::uint32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    Element value = 0;
    std::memcpy(&value, reinterpret_cast<const char *>(&signal) + i * sizeof(Element), sizeof(Element));
    values[i] = value;
  }
  return values;
}

/// AxUSER of the NPU: the last wanted byte above the first.
void wanted(std::uint32_t user, AddressSample &a) {
  a.first_byte = user & 0xFFFU;
  a.last_byte = user >> 12U;
}

} // namespace

VerilatedProbe::~VerilatedProbe() {
  const char *directory = std::getenv("GRADWEAVE_COVERAGE_DIR");
  if (!directory || !coverage_) return;
  static unsigned models = 0;
  const std::string stem = std::string(directory) + "/" + std::to_string(getpid()) + "-" + std::to_string(models++);
  try {
    coverage_->write(stem + ".bins");
    context_.coveragep()->write((stem + ".dat").c_str());
  } catch (const std::exception &e) {
    std::fprintf(stderr, "coverage: %s\n", e.what()); // the report misses the file's bins, and says so
  }
}

void VerilatedProbe::after_edge() {
#define GW_PROBE(signal) top_.rootp->npu__DOT__u_probe__DOT__##signal
  if (GW_PROBE(lanes) == 0) return; // Verilator takes no edge in the first evaluation: the registers hold nothing yet
  if (!coverage_)
    coverage_ = std::make_unique<FunctionalCoverage>(
        Geometry{GW_PROBE(cores), GW_PROBE(semaphore_num), GW_PROBE(lanes), GW_PROBE(spm_rows), GW_PROBE(spm_banks),
                 GW_PROBE(bus_bytes), GW_PROBE(ports), GW_PROBE(vector_groups)});
  const std::size_t engines = GW_PROBE(engines);
  Sample &s = sample_;
  s.reset_n = GW_PROBE(rst_n);
  s.state = GW_PROBE(state);
  s.err_valid = GW_PROBE(err_valid);
  s.err_code = static_cast<isa::ErrorCode>(GW_PROBE(err_code));
  s.err_index = GW_PROBE(err_index);
  s.checking = GW_PROBE(checking);
  s.moving = GW_PROBE(moving);
  s.error = static_cast<isa::ErrorCode>(GW_PROBE(error));
  if (s.checking) std::memcpy(s.command.words.data(), &GW_PROBE(cmd), sizeof(s.command.words));
  s.index = GW_PROBE(index);
  s.push = GW_PROBE(push);
  s.room = GW_PROBE(room);
  s.head_valid = GW_PROBE(head_valid);
  s.asks = GW_PROBE(asks);
  s.can_start = GW_PROBE(can_start);
  s.start = GW_PROBE(start);
  s.done = GW_PROBE(done);
  s.oldest_valid = GW_PROBE(oldest_valid);
  s.head_index = elements<std::uint32_t>(GW_PROBE(head_index), engines);
  s.done_index = elements<std::uint32_t>(GW_PROBE(done_index), engines);
  s.oldest_index = elements<std::uint32_t>(GW_PROBE(oldest_index), engines);
  s.load_counters = GW_PROBE(load_counters);
  s.store_counters = GW_PROBE(store_counters);
  s.fetch_counters = GW_PROBE(fetch_counters);
  s.core_counters = low_bits(GW_PROBE(core_counters));
  s.vector_counters = low_bits(GW_PROBE(vector_counters));
  s.vector_error = GW_PROBE(vector_error);
  s.semaphores = elements<std::uint16_t>(GW_PROBE(semaphores), GW_PROBE(semaphore_num));
  s.fifo_push = GW_PROBE(fifo_push);
  s.fifo_room = GW_PROBE(fifo_room);
  s.fifo_valid = GW_PROBE(fifo_valid);
  s.fifo_pop = GW_PROBE(fifo_pop);
  s.reads_full = GW_PROBE(reads_full);
  s.host = GW_PROBE(host);
  s.tail = GW_PROBE(tail);
  s.count = GW_PROBE(count);
  s.received = GW_PROBE(received);
  s.retired = GW_PROBE(retired);
  s.ring_size = GW_PROBE(ring_size);
  s.read = {GW_PROBE(ar_valid) != 0, GW_PROBE(ar_ready) != 0, GW_PROBE(ar_id) == 0, GW_PROBE(ar_addr),
            GW_PROBE(ar_len) + 1U};
  wanted(GW_PROBE(ar_user), s.read);
  s.write = {GW_PROBE(aw_valid) != 0, GW_PROBE(aw_ready) != 0, false, GW_PROBE(aw_addr), GW_PROBE(aw_len) + 1U};
  wanted(GW_PROBE(aw_user), s.write);
  const std::uint64_t ahead = low_bits(GW_PROBE(ahead));
  const std::uint32_t ports = GW_PROBE(ports);
  for (unsigned c = 0; c < kPortChannels.size(); ++c)
    s.ahead[c] = static_cast<std::uint32_t>(ahead >> (c * ports)) & ((1U << ports) - 1);
  coverage_->sample(s);
#undef GW_PROBE
}

} // namespace gradweave::coverage
