// What the bench checks in each cycle and at the end.
#include "dma_bench.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::dma_test {

namespace {

void compare_bursts(const std::vector<Burst> &actual, const std::vector<Burst> &expected, const char *name,
                    std::vector<std::string> &problems) {
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i)
    if (actual[i].addr != expected[i].addr || actual[i].beats != expected[i].beats) {
      problems.push_back(fmt::format("{} burst {} is {:#x}, {} beats; expected {:#x}, {} beats (command {})", name, i,
                                     actual[i].addr, actual[i].beats, expected[i].addr, expected[i].beats,
                                     expected[i].index));
      return;
    }
  if (actual.size() != expected.size())
    problems.push_back(fmt::format("{} {} bursts; expected {}", actual.size(), name, expected.size()));
}

} // namespace

void Bench::check_engine(Engine &e, const View &v, const char *name) {
  // In flight: started and not done, this cycle's done included.
  if (v.busy != !e.started.empty()) problem(fmt::format("{} busy is {}", name, v.busy));
  if (v.busy && !e.started.empty() && v.oldest != e.started.front().index)
    problem(fmt::format("{} oldest command is {}, not {}", name, v.oldest, e.started.front().index));

  std::uint32_t expected = v.active ? 8U : !e.started.empty() ? 4U : !e.waiting.empty() ? 2U : 1U;
  if (v.counts != expected) problem(fmt::format("{} counters are {:04b}, not {:04b}", name, v.counts, expected));
  ++(v.counts == 8 ? e.stats.active : v.counts == 4 ? e.stats.dram : v.counts == 2 ? e.stats.sem : e.stats.empty);
  if (!v.active && v.bytes != 0) problem(fmt::format("{} counts bytes without a beat", name));
  e.stats.bytes += v.bytes;
  if (v.active) {
    if (e.stats.active == 1) e.stats.first_beat = axi_.cycle;
    e.stats.last_beat = axi_.cycle;
  }

  if (v.done) {
    if (e.started.empty()) {
      problem(fmt::format("{} done of {} without a command in flight", name, v.done_index));
    } else {
      const Queued &q = e.started.front();
      if (q.index != v.done_index || q.posts != v.posts)
        problem(fmt::format("{} done of {}, posts {:06x}; expected {}, {:06x}", name, v.done_index, v.posts, q.index,
                            q.posts));
      if (e.moved < q.finish) problem(fmt::format("{} done of {} comes too early", name, v.done_index));
      e.started.pop_front();
    }
  }
  if (e.offered && v.ready) {
    e.started.push_back(e.waiting.front());
    e.waiting.pop_front();
    e.offered = false;
  }
}

void Bench::check_error(Engine &e, const View &v, const char *name, std::uint8_t response, bool last) {
  bool expected = response >= 2;
  if (v.error != expected) problem(fmt::format("{} error is {}, response {}", name, v.error, response));
  if (expected && e.answers < e.bursts.size()) {
    bool store = &e == &engines_[1];
    auto code = static_cast<std::uint32_t>(store ? isa::ErrorCode::WRITE_SLVERR : isa::ErrorCode::READ_SLVERR);
    code += response - 2U;
    std::uint32_t index = e.bursts[e.answers].index;
    if (v.error_code != code || v.error_index != index)
      problem(
          fmt::format("{} error {} of command {}; expected {} of {}", name, v.error_code, v.error_index, code, index));
    ++e.errors;
  }
  if (last) ++e.answers;
}

std::vector<std::uint64_t> Bench::bus_outputs() const {
  std::vector<std::uint64_t> v{model_->arvalid_o, model_->arid_o,  model_->araddr_o, model_->arlen_o, model_->awvalid_o,
                               model_->awaddr_o,  model_->awlen_o, model_->wvalid_o, model_->wlast_o};
  for (std::uint32_t w = 0; w < kBus / 4; ++w)
    v.push_back(model_->wdata_o[w]);
  for (std::uint32_t w = 0; w < (kBus + 31) / 32; ++w)
    v.push_back(model_->wstrb_o[w]);
  return v;
}

void Bench::check_paths() {
  auto toggle = [this] {
    model_->arready_i ^= 1U;
    model_->awready_i ^= 1U;
    model_->wready_i ^= 1U;
    model_->bvalid_i ^= 1U;
    model_->rvalid_i ^= 1U;
    model_->rlast_i ^= 1U;
    model_->rid_i ^= 1U;
    model_->rresp_i ^= 2U;
    settle();
  };
  std::vector<std::uint64_t> before = bus_outputs();
  toggle();
  if (bus_outputs() != before) problem("an AXI output follows an AXI input within the cycle");
  toggle();
}

void Bench::compare() {
  compare_bursts(axi_.loads, engines_[0].bursts, "read", problems_);
  compare_bursts(axi_.stores, engines_[1].bursts, "write", problems_);
  for (const Engine &e : engines_)
    if (e.stats.bytes != e.bytes) problem(fmt::format("{} bytes counted; expected {}", e.stats.bytes, e.bytes));
  if (!engines_quiet() || !axi_.idle()) problem("bursts are still on their way");

  for (std::size_t i = 0; i < spm_.data.size(); ++i)
    if (spm_.data[i] != expected_spm_.data[i]) {
      problem(fmt::format("scratchpad row {} lane {} is {:04x}; expected {:04x}", i / kLanes, i % kLanes, spm_.data[i],
                          expected_spm_.data[i]));
      break;
    }
  for (std::size_t i = 0; i < memory_.data.size(); ++i)
    if (memory_.data[i] != expected_memory_.data[i] || memory_.writes[i] != expected_memory_.writes[i]) {
      problem(fmt::format("byte {:#x} is {:02x}, written {} times; expected {:02x}, {} times", options_.dram_base + i,
                          memory_.data[i], memory_.writes[i], expected_memory_.data[i], expected_memory_.writes[i]));
      break;
    }
}

} // namespace gradweave::dma_test
