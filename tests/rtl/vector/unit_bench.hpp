// The Verilated vector unit, with lines from and to functions, and cycles counted.
#pragma once

#include "isa/vector/program.hpp"
#include "sw_models/vector/interpreter.hpp"
#include "tests/rtl/make_model.hpp"

#include "Vvector_unit_3x2.h"
#include "Vvector_unit_4x8.h"
#include "Vvector_unit_5x1.h"
#include "Vvector_unit_6x4.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gradweave::vector {

template <class ModelType, unsigned LaneCount, unsigned LinesAtOnce> struct Shape {
  using Model = ModelType;
  static constexpr unsigned kLanes = LaneCount;
  static constexpr unsigned kG = LinesAtOnce;
};
using Shapes = testing::Types<Shape<Vvector_unit_5x1, 5, 1>, Shape<Vvector_unit_3x2, 3, 2>,
                              Shape<Vvector_unit_6x4, 6, 4>, Shape<Vvector_unit_4x8, 4, 8>>;
struct ShapeNames {
  template <class S> static std::string GetName(int) { return std::to_string(S::kLanes) + "x" + std::to_string(S::kG); }
};

/// How a command ended.
struct UnitRun {
  std::uint64_t cycles = 0; ///< from its start to its end
  std::uint64_t issues = 0; ///< turns of instructions in the lanes
  std::uint64_t active = 0; ///< turns of any instructions
  std::uint64_t stalled = 0, lines_read = 0, lines_written = 0;
  unsigned fault = 0;
  unsigned fault_at = 0;
};

template <class S> class UnitBench {
public:
  static constexpr std::uint32_t kLatency = 3;       ///< cycles from a granted question to its answer, as in the NPU
  static constexpr std::uint64_t kMost = 10'000'000; ///< cycles of a run

  /// Whether a question, or a line of results, is granted in a cycle: (read, cycle).
  using Grants = std::function<bool(bool read, std::uint64_t cycle)>;

  void load(const isa::vector::Words &words, unsigned at = 0) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      model_->write_i = 1;
      model_->write_at_i = at + i;
      model_->write_word_i = words[i];
      tick();
    }
    model_->write_i = 0;
  }

  /// Lines go by `x`, whose lanes are the shape's. `fit`: the tiles and results that may be named; `same`: the tiles
  /// whose lines are those of all strips. What is counted beside the cycles is counted up to and including cycle
  /// `limit`. Fails the test if there is no end.
  UnitRun run(const Execution &x, const Grants &grants, unsigned first = 0, unsigned fit = 0x1FF, unsigned same = 0,
              std::uint64_t limit = kMost) {
    UnitRun run;
    model_->start_i = 1;
    model_->first_i = first;
    model_->strips_i = x.strips;
    model_->steps_i = x.steps;
    model_->fit_i = fit;
    model_->same_i = same;
    for (bool done = false; !done && run.cycles < kMost; ++run.cycles) {
      model_->rd_gnt_i = grants(true, run.cycles) ? 1 : 0;
      model_->wr_gnt_i = grants(false, run.cycles) ? 1 : 0;
      answer(run.cycles, x);
      model_->eval();
      exchange(run.cycles, x);
      if (run.cycles <= limit) count(run);
      done = model_->done_o != 0;
      if (done) {
        run.fault = model_->fault_o;
        run.fault_at = model_->fault_at_o;
      }
      tick();
      model_->start_i = 0;
    }
    EXPECT_LT(run.cycles, kMost) << "the unit does not end";
    EXPECT_TRUE(asked_.empty());
    return run;
  }

private:
  struct Question {
    std::uint64_t due;
    LinePlace place;
  };

  static std::uint32_t *words(void *port) { return static_cast<std::uint32_t *>(port); }

  void answer(std::uint64_t cycle, const Execution &x) {
    model_->rd_valid_i = !asked_.empty() && asked_.front().due <= cycle ? 1 : 0;
    if (model_->rd_valid_i == 0) return;
    std::vector<std::uint32_t> line(S::kLanes + 64); // who reads may fill whole blocks
    x.read(asked_.front().place, line.data());
    std::copy_n(line.begin(), S::kLanes, words(&model_->rd_line_i));
    asked_.pop_front();
  }

  void exchange(std::uint64_t cycle, const Execution &x) {
    if (model_->wr_valid_o != 0) x.write(written_.front(), words(&model_->wr_line_o));
    if (model_->wr_valid_o != 0) written_.pop_front();
    if (model_->rd_req_o != 0 && model_->rd_gnt_i != 0)
      asked_.push_back(
          {cycle + kLatency, {model_->rd_tile_o, model_->rd_section_o, model_->rd_strip_o, model_->rd_step_o}});
    if (model_->wr_req_o != 0 && model_->wr_gnt_i != 0)
      written_.push_back({model_->wr_tile_o, model_->wr_section_o, model_->wr_strip_o, model_->wr_step_o});
  }

  void count(UnitRun &run) const {
    run.issues += model_->issue_o;
    run.active += model_->working_o;
    run.stalled += model_->stalled_o;
    run.lines_read += model_->rd_req_o & model_->rd_gnt_i;
    run.lines_written += model_->wr_req_o & model_->wr_gnt_i;
  }

  void tick() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
  }

  static std::unique_ptr<typename S::Model> in_reset() {
    auto model = test::make_model<typename S::Model>();
    model->clear_i = model->write_i = model->start_i = model->rd_gnt_i = model->rd_valid_i = model->wr_gnt_i = 0;
    for (int i = 0; i < 4; ++i) {
      model->clk_i = i % 2;
      model->eval();
    }
    model->rst_ni = 1;
    return model;
  }

  std::unique_ptr<typename S::Model> model_ = in_reset();
  std::deque<Question> asked_;
  std::deque<LinePlace> written_;
};

inline bool always(bool, std::uint64_t) { return true; }

/// o0 of a program whose only section is a loop, for every element of t0, t1 and t2: element i is in lane i % LANES of
/// a line; strips are as many as the unit works on at once, and three more.
template <class S>
std::vector<std::uint32_t> run_elements(UnitBench<S> &bench, const isa::vector::Words &program,
                                        const std::vector<const std::vector<std::uint32_t> *> &tiles) {
  const std::size_t count = tiles[0]->size(), lines = (count + S::kLanes - 1) / S::kLanes;
  Execution x;
  x.lanes = S::kLanes;
  x.strips = 4 * S::kG + 3;
  x.steps = static_cast<std::uint32_t>((lines + x.strips - 1) / x.strips);
  std::vector<std::uint32_t> result(count);
  const auto begin = [&](const LinePlace &at) {
    return std::min(count, (std::size_t{at.step} * x.strips + at.strip) * S::kLanes);
  };
  x.read = [&](const LinePlace &at, std::uint32_t *line) {
    const std::size_t from = begin(at);
    std::copy_n(tiles[at.tile]->begin() + static_cast<std::ptrdiff_t>(from),
                std::min<std::size_t>(S::kLanes, count - from), line);
  };
  x.write = [&](const LinePlace &at, const std::uint32_t *line) {
    const std::size_t from = begin(at);
    std::copy_n(line, std::min<std::size_t>(S::kLanes, count - from),
                result.begin() + static_cast<std::ptrdiff_t>(from));
  };
  bench.load(program);
  // Steps are counted in 16 bits.
  EXPECT_LT(x.steps, 65536U);
  const UnitRun run = bench.run(x, always);
  EXPECT_EQ(run.fault, 0U);
  return result;
}

} // namespace gradweave::vector
