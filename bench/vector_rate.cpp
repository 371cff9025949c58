#include "bench/vector_rate.hpp"

#include "base/process/stopwatch.hpp"
#include "graph/golden/recorded.hpp"
#include "graph/operators/activation/gelu.hpp"
#include "sw_models/vector/programs.hpp"

#include "Vvector_45.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace gradweave::bench {
namespace {

constexpr std::uint32_t kLanes = 45, kLinesAtOnce = 4, kSteps = 1500;
constexpr int kTimes = 7;

class Unit {
public:
  Unit() {
    model_->rst_ni = 0;
    tick();
    tick();
    model_->rst_ni = 1;
    std::uint64_t state = 88172645463325252ULL;
    for (std::uint32_t &x : lines_) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      x = (static_cast<std::uint32_t>(state >> 16) & 0x80FF'FFFFU) | 0x3F00'0000U; // of magnitude about one
    }
  }

  void load(const isa::vector::Words &words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      model_->write_i = 1;
      model_->write_at_i = i;
      model_->write_word_i = words[i];
      tick();
    }
    model_->write_i = 0;
  }

  /// One command: cycles, and turns of instructions.
  VectorRate run() {
    VectorRate rate;
    std::uint64_t turns = 0, cycles = 0, asked = 0;
    model_->strips_i = 4 * kLinesAtOnce;
    model_->steps_i = kSteps;
    model_->fit_i = 0x1FF;
    model_->start_i = model_->rd_gnt_i = model_->wr_gnt_i = 1;
    for (bool done = false; !done; ++cycles) {
      model_->rd_valid_i = asked >> 1U & 1U; // two cycles after the question
      std::copy_n(&lines_[cycles % 64 * kLanes], kLanes, reinterpret_cast<std::uint32_t *>(&model_->rd_line_i));
      model_->eval();
      asked = asked << 1U | model_->rd_req_o;
      turns += model_->issue_o;
      done = model_->done_o != 0;
      if (done && model_->fault_o != 0) throw std::runtime_error("vector_rate: the program has a fault");
      tick();
      model_->start_i = 0;
    }
    rate.operations = static_cast<double>(turns) * kLanes * kLinesAtOnce;
    rate.cycles = static_cast<double>(cycles);
    return rate;
  }

private:
  void tick() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
  }

  std::unique_ptr<Vvector_45> model_ = std::make_unique<Vvector_45>();
  std::vector<std::uint32_t> lines_ = std::vector<std::uint32_t>(64 * kLanes);
};

} // namespace

VectorRate vector_rate() {
  Unit unit;
  unit.load(isa::vector::encode(vector::unary_program([](auto &, vector::Recorder::Value x) {
    return graph::GeluByErf::value<graph::Recorded>(graph::Recorded::Value(x)).recorded();
  })));
  VectorRate rate;
  std::vector<double> speeds;
  for (int i = 0; i < kTimes; ++i) {
    const Stopwatch time;
    rate = unit.run();
    speeds.push_back(rate.operations / time.cpu_seconds());
  }
  std::nth_element(speeds.begin(), speeds.begin() + kTimes / 2, speeds.end());
  rate.operations_per_s = speeds[kTimes / 2];
  return rate;
}

} // namespace gradweave::bench
