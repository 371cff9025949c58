#include "compiler/vector/run_jobs.hpp"

#include "sw_models/numerics/numerics.hpp"
#include "sw_models/vector/interpreter.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

constexpr std::uint32_t kStripsInTurn = 4; ///< for each line at once: they hide the lanes' latency

std::uint32_t rounded(std::uint32_t bits) { return bits_of_fp32(fp32_from_bf16(bf16_from_fp32(fp32_from_bits(bits)))); }

class JobRun {
public:
  JobRun(const OpJobs &jobs, const VectorJob &job, const LineWidth &width, JobMemory &memory)
      : jobs_(jobs), job_(job), width_(width), memory_(memory) {}

  void run() {
    vector::Execution execution;
    execution.lanes = width_.lanes;
    execution.strips = (job_.lanes + width_.lanes - 1) / width_.lanes;
    execution.steps = job_.steps;
    execution.strips_in_turn = kStripsInTurn * width_.lines;
    execution.read = [this](const vector::LinePlace &at, std::uint32_t *line) { read(at, line); };
    execution.write = [this](const vector::LinePlace &at, const std::uint32_t *line) { write(at, line); };
    interpret(jobs_.programs[job_.program], execution);
  }

private:
  /// Lanes of a strip that the job has.
  std::uint32_t lanes_of(std::uint32_t strip) const {
    return std::min(width_.lanes, job_.lanes - strip * width_.lanes);
  }

  void read(const vector::LinePlace &at, std::uint32_t *line) {
    const JobTile &tile = job_.operands[at.tile];
    const std::uint32_t lanes = lanes_of(at.strip);
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      line[lane] = memory_[tile.value][tile.element(std::size_t{at.strip} * width_.lanes + lane, at.step)];
    for (std::uint32_t lane = lanes; lane < width_.lanes; ++lane)
      line[lane] = meaningless_ += 0x9E3779B9U;
  }

  void write(const vector::LinePlace &at, const std::uint32_t *line) {
    const JobTile &tile = job_.results[at.tile];
    const bool rounds = jobs_.values[tile.value].type == graph::ElementType::kBf16;
    for (std::uint32_t lane = 0; lane < lanes_of(at.strip); ++lane)
      memory_[tile.value][tile.element(std::size_t{at.strip} * width_.lanes + lane, at.step)] =
          rounds ? rounded(line[lane]) : line[lane];
  }

  const OpJobs &jobs_;
  const VectorJob &job_;
  const LineWidth &width_;
  JobMemory &memory_;
  std::uint32_t meaningless_ = 0x7FC0FFEEU;
};

void move(const MoveJob &job, JobMemory &memory) {
  for (std::size_t row = 0; row < job.rows; ++row) {
    const auto from = memory[job.from].begin() + static_cast<std::ptrdiff_t>(job.from_first + row * job.from_pitch);
    std::copy_n(from, job.length,
                memory[job.to].begin() + static_cast<std::ptrdiff_t>(job.to_first + row * job.to_pitch));
  }
}

} // namespace

void run_jobs(const OpJobs &jobs, const LineWidth &width, JobMemory &memory) {
  for (const JobStep &step : jobs.steps)
    if (const auto *job = std::get_if<VectorJob>(&step))
      JobRun(jobs, *job, width, memory).run();
    else
      move(std::get<MoveJob>(step), memory);
}

} // namespace gradweave::compiler
