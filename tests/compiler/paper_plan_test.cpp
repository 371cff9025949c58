// What the paper's plans move, against counts that loop over the tiles by themselves; and damage that the checks see.
#include "compiler/lower/order.hpp"
#include "compiler/paper/loops.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/layer_run.hpp"
#include "tests/compiler/paper_run.hpp"

#include <list>

namespace gradweave::compiler::paper {
namespace {

const Traffic &of(const Compiled &c, Tensor t) { return c.traffic.front()[static_cast<std::size_t>(t)]; }

PaperOptions options_for(const std::string &policy, Schedule schedule, bool stream = true) {
  PaperOptions options;
  options.policy = parse_policy(policy);
  options.schedule = schedule;
  options.stream = stream;
  return options;
}

/// LRU over tiles of one size, named by tensor and tile coordinates; counts misses a tensor.
class PlainLru {
public:
  explicit PlainLru(std::size_t kept) : kept_(kept) {}
  void use(Tensor t, std::uint32_t row, std::uint32_t col) {
    const Name name{t, row, col};
    if (const auto it = std::find(tiles_.begin(), tiles_.end(), name); it != tiles_.end())
      tiles_.erase(it);
    else
      ++misses[t];
    tiles_.push_back(name);
    if (tiles_.size() > kept_) tiles_.pop_front();
  }
  std::map<Tensor, std::uint64_t> misses;

private:
  using Name = std::tuple<Tensor, std::uint32_t, std::uint32_t>;
  std::size_t kept_;
  std::list<Name> tiles_;
};

/// A layer of 8 x 8 tiles only: bytes follow from tiles.
constexpr std::uint32_t kM = 12, kK = 7, kN = 10, kSide = 8;
constexpr std::uint64_t kTileBytes = 2ULL * kSide * kSide;

struct Loops {
  std::uint32_t m, k, n;
};

/// The default's loops, written out: dX (m, k, n), dW (k, n, m); dx_major m, n, k; dw_major n, m, k.
std::vector<Loops> nest(const std::string &order) {
  std::vector<Loops> result;
  const auto extent = [](char c) { return c == 'm' ? kM : c == 'k' ? kK : kN; };
  for (std::uint32_t x = 0; x < extent(order[0]); ++x)
    for (std::uint32_t y = 0; y < extent(order[1]); ++y)
      for (std::uint32_t z = 0; z < extent(order[2]); ++z) {
        const auto at = [&](char c) { return order[0] == c ? x : order[1] == c ? y : z; };
        result.push_back({at('m'), at('k'), at('n')});
      }
  return result;
}

void use_dx(PlainLru &lru, const Loops &i) {
  lru.use(Tensor::kDY, i.m, i.n);
  lru.use(Tensor::kW, i.k, i.n);
}
void use_dw(PlainLru &lru, const Loops &i) {
  lru.use(Tensor::kX, i.m, i.k);
  lru.use(Tensor::kDY, i.m, i.n);
}

TEST(Traffic, IsThatOfAPlainLruOverTheLoops) {
  const Machine npu = load_config("test8");
  const Layer layer = make_layer(kM * kSide, kK * kSide, kN * kSide);
  for (const Schedule schedule :
       {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor}) {
    SCOPED_TRACE(to_string(schedule));
    const bool fused = schedule != Schedule::kSequential;
    const std::string dx = schedule == Schedule::kDxMajor ? "mnk" : schedule == Schedule::kDwMajor ? "nmk" : "mkn";
    const std::string dw = schedule == Schedule::kDxMajor ? "mnk" : schedule == Schedule::kDwMajor ? "nmk" : "knm";
    Step step;
    step.dx = step.dw = true;
    step.fused = fused;
    // Sums of which some are begun: one in a traditional order, a row or column and all of the other tensor else.
    const std::uint32_t open = schedule == Schedule::kDxMajor   ? kK + kK * kN
                               : schedule == Schedule::kDwMajor ? kK + kM * kK
                               : fused                          ? 2
                                                                : 1;
    const Areas areas = make_areas({kSide, kSide, kSide}, step, open, {}, npu);
    PlainLru lru(areas.operands.count / 2);
    const std::vector<Loops> dx_loops = nest(dx), dw_loops = nest(dw);
    for (std::size_t i = 0; i < dx_loops.size(); ++i) {
      use_dx(lru, dx_loops[i]);
      if (fused) use_dw(lru, dw_loops[i]);
    }
    for (std::size_t i = 0; i < dw_loops.size() && !fused; ++i)
      use_dw(lru, dw_loops[i]);
    const Compiled c = compile_paper_layer(layer, npu, options_for("", schedule));
    for (const Tensor t : {Tensor::kX, Tensor::kW, Tensor::kDY})
      EXPECT_EQ(of(c, t).read_bytes, lru.misses[t] * kTileBytes) << to_string(t);
    EXPECT_EQ(of(c, Tensor::kDX).write_bytes - of(c, Tensor::kDX).spill_write_bytes, kM * kK * kTileBytes);
    EXPECT_EQ(of(c, Tensor::kDW).write_bytes - of(c, Tensor::kDW).spill_write_bytes, 2 * kK * kN * kTileBytes);
    if (dx == "mkn") { // sums come one after another: none has to leave
      EXPECT_EQ(of(c, Tensor::kDX).spill_write_bytes, 0U);
      EXPECT_EQ(of(c, Tensor::kDW).spill_write_bytes, 0U);
    }
  }
}

TEST(Traffic, SpillsAreThoseOfAPlainLruOverTheSums) {
  const Machine npu = load_config("test8");
  const Layer layer = make_layer(kM * kSide, kK * kSide, kN * kSide);
  Step step;
  step.dx = step.dw = step.fused = true;
  const Areas areas = make_areas({kSide, kSide, kSide}, step, kK + kK * kN, {}, npu);
  const std::size_t kept = areas.partials.count - spare_slots(areas.partials.count, 1);
  ASSERT_LT(kept, kK * kN) << "nothing would spill";
  // A sum leaves the list when it is complete; what is pushed out is stored, and loaded when it comes back.
  std::list<std::pair<Tensor, std::uint32_t>> sums;
  std::uint64_t stores = 0, loads = 0;
  const auto use = [&](Tensor t, std::uint32_t number, bool first, bool last) {
    const auto it = std::find(sums.begin(), sums.end(), std::pair(t, number));
    if (it == sums.end()) {
      if (sums.size() == kept) {
        sums.pop_front();
        ++stores;
      }
      loads += first ? 0 : 1;
    } else {
      sums.erase(it);
    }
    if (!last) sums.emplace_back(t, number);
  };
  for (const Loops &i : nest("mnk")) {
    use(Tensor::kDX, i.m * kK + i.k, i.n == 0, i.n + 1 == kN);
    use(Tensor::kDW, i.k * kN + i.n, i.m == 0, i.m + 1 == kM);
  }
  const Compiled c = compile_paper_layer(layer, npu, options_for("as_operands", Schedule::kDxMajor));
  EXPECT_EQ(of(c, Tensor::kDX).spill_write_bytes + of(c, Tensor::kDW).spill_write_bytes, stores * 2 * kTileBytes);
  EXPECT_EQ(of(c, Tensor::kDX).spill_read_bytes + of(c, Tensor::kDW).spill_read_bytes, loads * 2 * kTileBytes);
}

TEST(WithoutStream, CyclesAndTrafficAreTheSame) {
  const Machine npu = load_config("test6x10");
  std::mt19937_64 rng(3);
  for (const Policy &policy : policies_near_default())
    for (const Schedule schedule : all_schedules()) {
      const Layer layer = make_layer(1 + rng() % 90, 1 + rng() % 90, 1 + rng() % 90);
      const Compiled with = compile_paper_layer(layer, npu, options_for(to_string(policy), schedule));
      const Compiled without = compile_paper_layer(layer, npu, options_for(to_string(policy), schedule, false));
      EXPECT_TRUE(without.stream.empty());
      EXPECT_EQ(with.predicted_cycles, without.predicted_cycles);
      EXPECT_EQ(with.compute_cycles, without.compute_cycles);
      EXPECT_EQ(with.useful_macs, without.useful_macs);
      EXPECT_EQ(with.chosen, without.chosen);
      EXPECT_EQ(with.tilings, without.tilings);
      for (std::size_t t = 0; t < kTensorCount; ++t) {
        EXPECT_EQ(with.traffic.front()[t].read_bytes, without.traffic.front()[t].read_bytes);
        EXPECT_EQ(with.traffic.front()[t].write_bus_bytes, without.traffic.front()[t].write_bus_bytes);
        EXPECT_EQ(with.traffic.front()[t].spill_read_bytes, without.traffic.front()[t].spill_read_bytes);
      }
    }
}

TEST(Ideal, IsTheFastestOfTheThreeOrders) {
  const Machine npu = load_config("test8");
  const Layer layer = make_layer(70, 20, 40);
  const auto cycles = [&](Schedule s) { return compile_paper_layer(layer, npu, options_for("", s)).predicted_cycles; };
  EXPECT_EQ(cycles(Schedule::kIdeal),
            std::min({cycles(Schedule::kInterleave), cycles(Schedule::kDxMajor), cycles(Schedule::kDwMajor)}));
  EXPECT_EQ(cycles(Schedule::kRearrange), cycles(resolve(Schedule::kRearrange, layer)));
}

TEST(Rearrange, LooksAtThePartsOwnDimensions) {
  const Machine npu = load_config("test8");
  const Layer layer = make_layer(24, 160, 24); // K largest; an eighth of it is square
  PaperOptions options = options_for("", Schedule::kRearrange);
  EXPECT_EQ(compile_paper_layer(layer, npu, options).chosen, Schedule::kDwMajor);
  options.cut = {Partition::kIfmapSharing, 8, Reduction::kChain};
  EXPECT_EQ(compile_paper_layer(layer, npu, options).chosen, Schedule::kInterleave);
}

TEST(DyOnce, LeavesOutTheLoadsOfDyForDw) {
  const Machine npu = load_config("test8");
  const Layer layer = make_layer(200, 90, 150);
  Layer without_dx = layer;
  without_dx.dx = false;
  PaperOptions options = options_for("none", Schedule::kSequential, false);
  const Compiled sequential = compile_paper_layer(layer, npu, options);
  const Compiled dw = compile_paper_layer(without_dx, npu, options);
  options.ideal.dy_once = true;
  const Compiled once = compile_paper_layer(layer, npu, options);
  // With `none`, at most the last tile of dX's dY serves dW.
  const std::uint64_t saved = of(sequential, Tensor::kDY).read_bytes - of(once, Tensor::kDY).read_bytes;
  EXPECT_LE(saved, of(dw, Tensor::kDY).read_bytes);
  EXPECT_GE(saved + kTileBytes, of(dw, Tensor::kDY).read_bytes);
  EXPECT_EQ(of(sequential, Tensor::kX).read_bytes, of(once, Tensor::kX).read_bytes);
  EXPECT_LT(once.predicted_cycles, sequential.predicted_cycles);
}

TEST(SpillCost, HalvesOrRemovesWhatSpills) {
  const Machine npu = load_config("test8");
  const Layer layer = make_layer(40, 90, 150);
  PaperOptions options = options_for("", Schedule::kDxMajor, false);
  const auto spilled = [&](SpillCost cost) {
    options.ideal.spill = cost;
    const Compiled c = compile_paper_layer(layer, npu, options);
    return of(c, Tensor::kDW).spill_read_bytes + of(c, Tensor::kDX).spill_read_bytes;
  };
  const std::uint64_t whole = spilled(SpillCost::kFp32);
  EXPECT_GT(whole, 0U);
  EXPECT_EQ(spilled(SpillCost::kBf16), whole / 2);
  EXPECT_EQ(spilled(SpillCost::kFree), 0U);
}

template <typename E> std::string message(const Layer &layer, const Machine &npu, const PaperOptions &options) {
  try {
    compile_paper_layer(layer, npu, options);
  } catch (const E &error) {
    return error.what();
  }
  return {};
}

TEST(Errors, SayWhatDoesNotFit) {
  Machine npu = load_config("test8");
  const Layer layer = make_layer(40, 40, 40);
  PaperOptions options;
  npu.memory.size_bytes = 4096;
  EXPECT_NE(message<CompileError>(layer, npu, options).find("raise memory.size_bytes"), std::string::npos);
  npu = load_config("test8");
  npu.spm_bytes = 1024;
  npu.spm_banks = 1;
  options.schedule = Schedule::kInterleave;
  EXPECT_NE(message<CompileError>(layer, npu, options).find("raise npu.spm_bytes"), std::string::npos);
  npu = load_config("test8");
  npu.semaphores = 6;
  EXPECT_NE(message<CompileError>(layer, npu, options).find("raise npu.semaphores"), std::string::npos);
  EXPECT_NE(message<CompileError>(make_layer(1, 0, 1), load_config("test8"), options).find("none may be 0"),
            std::string::npos);
}

TEST(Errors, IdealisationsHaveNoStream) {
  const Machine npu = load_config("test8");
  const Layer layer = make_layer(40, 40, 40);
  PaperOptions options;
  options.ideal.dy_once = true;
  EXPECT_NE(message<std::invalid_argument>(layer, npu, options).find("no stream"), std::string::npos);
  options.stream = false;
  options.schedule = Schedule::kInterleave;
  EXPECT_NE(message<std::invalid_argument>(layer, npu, options).find("sequential"), std::string::npos);
}

/// A planned program that spills, to be damaged.
class Damage : public testing::Test {
protected:
  Damage()
      : npu_(load_config("test8")), layer_(make_layer(40, 90, 150)),
        layout_(make_layout({layer_}, Pass::kBackward, npu_)) {
    const Policy policy;
    Stage stage;
    stage.step.dx = stage.step.dw = stage.step.fused = true;
    stage.tile = tile_shape(layer_, stage.step, policy, npu_);
    stage.products =
        make_order(PhaseKind::kDxMajor, loops_of(PhaseKind::kDxMajor, policy), stage.tile, layer_, whole(layer_));
    program_.layers = {layer_};
    program_.reductions.resize(1);
    program_.dram_bytes = layout_.bytes;
    plan_stage(stage, layout_, policy, npu_, program_);
  }

  template <typename F> std::size_t find(F wanted) const {
    const auto it = std::find_if(program_.actions.begin(), program_.actions.end(), wanted);
    EXPECT_NE(it, program_.actions.end());
    return static_cast<std::size_t>(it - program_.actions.begin());
  }
  void erase(std::size_t index) {
    program_.actions.erase(program_.actions.begin() + static_cast<std::ptrdiff_t>(index));
  }
  std::string verify() const { return verify_program(program_, layout_, npu_); }

  Machine npu_;
  Layer layer_;
  Layout layout_;
  Program program_;
};

TEST_F(Damage, TheProgramIsRightBefore) { EXPECT_EQ(verify(), ""); }

TEST_F(Damage, AMissingLoadIsSeen) {
  erase(find([](const Action &a) { return a.kind == Action::Kind::kLoad && !a.spill; }));
  EXPECT_NE(verify().find("does not hold"), std::string::npos) << verify();
}

TEST_F(Damage, AMissingReturnOfASumIsSeen) {
  erase(find([](const Action &a) { return a.kind == Action::Kind::kLoad && a.spill; }));
  EXPECT_NE(verify().find("does not hold"), std::string::npos) << verify();
}

TEST_F(Damage, AMissingSpillIsSeen) {
  erase(find([](const Action &a) { return a.kind == Action::Kind::kStore && a.spill; }));
  EXPECT_NE(verify(), "");
}

TEST_F(Damage, ASlotTakenTooEarlyIsSeen) {
  const std::size_t first = find([](const Action &a) { return a.kind == Action::Kind::kLoad && !a.spill; });
  const std::size_t gemm = find([](const Action &a) { return a.kind == Action::Kind::kGemm; });
  Action thief = program_.actions[first];
  thief.row += 1;
  program_.actions.insert(program_.actions.begin() + static_cast<std::ptrdiff_t>(gemm), thief);
  EXPECT_NE(verify(), "");
}

} // namespace
} // namespace gradweave::compiler::paper
