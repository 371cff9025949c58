#include "bench/vector_rate.hpp"

#include "base/process/stopwatch.hpp"
#include "bench/work/workloads.hpp"
#include "device/device.hpp"
#include "graph/golden/recorded.hpp"
#include "graph/operators/activation/gelu.hpp"
#include "isa/command.hpp"
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
constexpr std::uint32_t kRows = 300; // of the tile in the NPU's scratchpad
constexpr int kCommands = 3;

isa::vector::Program gelu() {
  return vector::unary_program([](auto &, vector::Recorder::Value x) {
    return graph::GeluByErf::value<graph::Recorded>(graph::Recorded::Value(x)).recorded();
  });
}

double middle_of(std::vector<double> &values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

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

/// Words, two tiles of `columns` columns, and the program over them several times; nothing is read from memory.
std::vector<isa::Command> gelu_commands(const isa::vector::Program &program, const Machine &npu,
                                        std::uint32_t columns) {
  const isa::vector::Words words = isa::vector::encode(program);
  std::vector<isa::Command> stream;
  for (std::size_t at = 0; at < words.size(); at += 6) {
    isa::ProgramCommand part;
    part.at = static_cast<std::uint32_t>(at);
    part.count = static_cast<std::uint32_t>(std::min<std::size_t>(6, words.size() - at));
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(at), part.count, part.words.begin());
    stream.push_back(isa::encode({part, {}, 0}));
  }
  isa::TileCommand tiles;
  const std::uint32_t panels = columns / npu.lanes();
  for (std::uint32_t i = 0; i < 2; ++i) {
    isa::VectorTile &tile = tiles.tiles[i];
    tile.slot = i == 0 ? 0 : isa::kOperandSlots;
    tile.rows = kRows;
    tile.cols = columns;
    tile.spm = {i * panels * kRows, kRows, 0};
  }
  stream.push_back(isa::encode({tiles, {}, 0}));
  for (int i = 0; i < kCommands; ++i)
    stream.push_back(isa::encode({isa::VectorCommand{0, 0, columns, kRows}, {}, 0}));
  return stream;
}

/// Of a lane, for an element: instructions of the loop.
double operations_of(const isa::vector::Program &program) { return static_cast<double>(program.sections.at(1).size()); }

} // namespace

VectorRate vector_rate() {
  Unit unit;
  unit.load(isa::vector::encode(gelu()));
  VectorRate rate;
  std::vector<double> speeds;
  for (int i = 0; i < kTimes; ++i) {
    const Stopwatch time;
    rate = unit.run();
    speeds.push_back(rate.operations / time.cpu_seconds());
  }
  rate.operations_per_s = middle_of(speeds);
  return rate;
}

VectorRate vector_rate_in_npu() {
  const Machine npu = load_npu("small");
  const isa::vector::Program program = gelu();
  const std::uint32_t columns = 4 * npu.vector_groups * npu.lanes();
  const std::unique_ptr<Device> device = make_rtl_device(npu);
  const std::vector<isa::Command> stream = gelu_commands(program, npu, columns);
  VectorRate rate;
  std::vector<double> speeds;
  for (int i = 0; i < kTimes; ++i) {
    device->submit(stream);
    const Stopwatch time;
    if (!device->wait().ok()) throw std::runtime_error("vector_rate_in_npu: the run stopped with an error");
    const double seconds = time.cpu_seconds();
    rate.operations = 1.0 * kCommands * kRows * columns * operations_of(program);
    rate.cycles = static_cast<double>(device->read_counters()[isa::Counter::CYCLES]);
    speeds.push_back(rate.operations / seconds);
  }
  rate.operations_per_s = middle_of(speeds);
  return rate;
}

} // namespace gradweave::bench
