// verify_stream() against streams broken on purpose: each damage must be found and named.
#include "compiler/back/compile_plan.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/spm/residency.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/layer_run.hpp"

#include <functional>

namespace gradweave::compiler {
namespace {

Machine tiny() {
  Machine npu = load_config("test8");
  npu.spm_bytes = 2048;
  npu.spm_banks = 1;
  return npu;
}

/// A layer with a plan whose partial sums spill, so that every kind of command occurs.
const Compiled &compiled() {
  static const Compiled c = [] {
    const Machine npu = tiny();
    const Layer layer = make_layer(24, 20, 28);
    const Layout layout = make_layout({layer}, Pass::kBackward, npu);
    const RowRange all{0, npu.spm_rows()};
    TimedPlan plan;
    PhasePlan phase;
    phase.kind = PhaseKind::kDxMajor;
    phase.tile = {8, 8, 8};
    phase.loops = {Dim::kM, Dim::kN, Dim::kK};
    phase.split = {all, all, all};
    phase.products = make_order(phase.kind, phase.loops, phase.tile, layer, whole(layer));
    plan.plans.push_back(phase);
    plan.program = allocate(plan.plans, {layer}, layout, npu).value();
    return compile_plan({layer}, Pass::kBackward, layout, plan, npu);
  }();
  return c;
}

using Stream = std::vector<isa::Command>;

isa::Decoded decoded(const Stream &s, std::size_t i) { return *isa::decode(s.at(i)); }

std::size_t find(const std::function<bool(const isa::Decoded &)> &wanted, std::size_t skip = 0) {
  for (std::size_t i = 0; i < compiled().stream.size(); ++i)
    if (wanted(decoded(compiled().stream, i)) && skip-- == 0) return i;
  throw std::logic_error("no such command");
}

bool is_load(const isa::Decoded &d) {
  const auto *dma = std::get_if<isa::DmaCommand>(&d.op);
  return dma != nullptr && !dma->store;
}
bool is_store(const isa::Decoded &d) {
  const auto *dma = std::get_if<isa::DmaCommand>(&d.op);
  return dma != nullptr && dma->store;
}
bool is_gemm(const isa::Decoded &d) { return std::holds_alternative<isa::GemmCommand>(d.op); }
bool in_scratch(const isa::Decoded &d) {
  const auto &last = compiled().layout.tensors.back();
  return std::get<isa::DmaCommand>(d.op).dram_addr >= last.offset + std::uint64_t{last.rows} * last.pitch;
}

std::string damaged(const std::function<void(Compiled &)> &damage) {
  Compiled broken = compiled();
  damage(broken);
  return verify_stream(broken, tiny());
}

void edit(Compiled &c, std::size_t i, const std::function<void(isa::Decoded &)> &change) {
  isa::Decoded d = decoded(c.stream, i);
  change(d);
  c.stream[i] = isa::encode(d);
}

void erase(Compiled &c, std::size_t i) {
  c.stream.erase(c.stream.begin() + static_cast<std::ptrdiff_t>(i));
  c.info.erase(c.info.begin() + static_cast<std::ptrdiff_t>(i));
}

isa::DmaCommand &dma(isa::Decoded &d) { return std::get<isa::DmaCommand>(d.op); }
isa::GemmCommand &gemm(isa::Decoded &d) { return std::get<isa::GemmCommand>(d.op); }

TEST(VerifyStream, AcceptsEverySchedule) {
  for (const Schedule s : all_schedules())
    EXPECT_EQ(verify_stream(compile_known(make_layer(24, 20, 28), tiny(), {s, Pass::kBoth}), tiny()), "");
}

TEST(VerifyStream, NamesEveryDamage) { // NOLINT(readability-function-size): a table
  const auto final_store = find([](const auto &d) { return is_store(d) && !in_scratch(d); });
  const auto spill_store = find([](const auto &d) { return is_store(d) && in_scratch(d); });
  const auto spill_load = find([](const auto &d) { return is_load(d) && in_scratch(d); });
  const auto acc = find([](const auto &d) { return is_gemm(d) && std::get<isa::GemmCommand>(d.op).acc; });
  const auto bf16_store = find([](const auto &d) { return is_store(d) && !std::get<isa::DmaCommand>(d.op).fp32; });
  const auto fresh = find([](const auto &d) { return is_gemm(d) && !std::get<isa::GemmCommand>(d.op).acc; });
  const auto partial = find([](const auto &d) { return is_gemm(d) && !std::get<isa::GemmCommand>(d.op).out_bf16; });
  using Damage = std::function<void(Compiled &)>;
  const std::vector<std::pair<const char *, Damage>> cases{
      {"would refuse it", [&](auto &c) { c.stream[0].words[0] = 0x77; }},
      {"would refuse it", [&](auto &c) { edit(c, 0, [](auto &d) { dma(d).spm.row = 1U << 20U; }); }},
      {"is not a whole tile", [&](auto &c) { erase(c, 0); }},
      {"no legal serial order", [&](auto &c) { edit(c, 0, [](auto &d) {
                                                 d.sync.waits[0] = {0, 1};
                                               }); }},
      {"is taken by engines",
       [&](auto &c) {
         edit(c, 0, [](auto &d) { d.sync.posts[1] = d.sync.posts[2] = 60; });
         edit(c, fresh, [](auto &d) { d.sync.waits[2] = {60, 1}; });
         edit(c, final_store, [](auto &d) { d.sync.waits[2] = {60, 1}; });
       }},
      {"is posted by engines",
       [&](auto &c) {
         edit(c, 0, [](auto &d) { d.sync.posts[2] = 60; });
         edit(c, final_store, [](auto &d) { d.sync.posts[2] = 60; });
       }},
      {"is posted", [&](auto &c) { edit(c, c.stream.size() - 1, [](auto &d) { d.sync.posts[2] = 60; }); }},
      {"loads dX, which is a result",
       [&](auto &c) {
         edit(c, 0, [&](auto &d) {
           dma(d).dram_addr = c.layout.tensors[3].offset;
           dma(d).pitch = c.layout.tensors[3].pitch;
           dma(d).rows = dma(d).cols = 1;
         });
       }},
      {"overwrites the input",
       [&](auto &c) {
         edit(c, bf16_store, [&](auto &d) {
           dma(d).dram_addr = c.layout.tensors[0].offset;
           dma(d).pitch = c.layout.tensors[0].pitch;
         });
       }},
      {"reaches outside the tensor",
       [&](auto &c) { edit(c, 0, [](auto &d) { dma(d).dram_addr += dma(d).pitch - 2; }); }},
      {"reaches outside the tensor",
       [&](auto &c) { edit(c, 0, [](auto &d) { dma(d).dram_addr += std::uint64_t{17} * dma(d).pitch; }); }},
      {"with pitch", [&](auto &c) { edit(c, 0, [](auto &d) { dma(d).pitch -= 16; }); }},
      {"as fp32",
       [&](auto &c) {
         edit(c, 0, [](auto &d) {
           dma(d).fp32 = true;
           dma(d).rows = dma(d).cols = 1;
           dma(d).dram_addr = dma(d).dram_addr / 4 * 4;
         });
       }},
      {"where no such tile was stored", [&](auto &c) { edit(c, spill_load, [](auto &d) { dma(d).dram_addr += 16; }); }},
      {"neither a tensor nor spill space",
       [&](auto &c) {
         edit(c, spill_store, [&](auto &d) {
           dma(d).dram_addr =
               c.layout.tensors[0].offset + c.layout.tensors[0].rows * std::uint64_t{c.layout.tensors[0].pitch};
         });
       }},
      {"holds no such tile", [&](auto &c) { edit(c, final_store, [](auto &d) { dma(d).spm.rot = 1; }); }},
      {"has initial values that are not",
       [&](auto &c) { edit(c, acc, [](auto &d) { gemm(d).cin.rot = gemm(d).cout.rot = 1; }); }},
      {"from zero at term",
       [&](auto &c) {
         edit(c, acc, [](auto &d) {
           gemm(d).acc = false;
           gemm(d).cin = {};
         });
       }},
      {"over its own operand A",
       [&](auto &c) { edit(c, fresh, [](auto &d) { gemm(d).cout.row = gemm(d).a.row / 2 * 2; }); }},
      {"rounds", [&](auto &c) { edit(c, partial, [](auto &d) { gemm(d).out_bf16 = true; }); }},
      {"gives no result of a layer",
       [&](auto &c) {
         edit(c, fresh, [](auto &d) { gemm(d).a_col = !gemm(d).a_col; }); // the tile is square
       }},
      {"elements are missing", [&](auto &c) { edit(c, final_store, [](auto &d) { d.op = isa::SyncCommand{1}; }); }},
      {"to the place of",
       [&](auto &c) { edit(c, final_store, [&](auto &d) { dma(d).dram_addr += 2 * dma(d).pitch; }); }},
      {"traffic of", [&](auto &c) { c.traffic.front()[0].read_bus_bytes += 1; }},
      {"traffic of",
       [&](auto &c) {
         c.info[0].tensor = Tensor::kW;
         c.info[0].spill = true;
       }},
      {"entries of information", [&](auto &c) { c.info.pop_back(); }},
      {"is not bound", [&](auto &c) { c.layout.places[0][0] = Layout::kNone; }},
      {"has no place", [&](auto &c) { c.layout.places[0][0] = 99; }},
      {"have places", [&](auto &c) { c.layout.places.clear(); }},
      {"does not describe it", [&](auto &c) { c.layout.tensors[0].rows += 1; }},
      {"beyond the", [&](auto &c) { c.dram_bytes = 4096; }},
      {"overlaps another", [&](auto &c) { c.layout.tensors.push_back(c.layout.tensors.back()); }},
      {"which the pass does not use", [&](auto &c) { c.layers.front().dx = false; }},
  };
  for (const auto &[message, damage] : cases)
    EXPECT_NE(damaged(damage).find(message), std::string::npos) << message << " / " << damaged(damage);
}

TEST(VerifyStream, EveryNumberOfTheTrafficIsChecked) {
  for (const auto number : {&Traffic::read_bytes, &Traffic::write_bytes, &Traffic::read_bus_bytes,
                            &Traffic::write_bus_bytes, &Traffic::spill_read_bytes, &Traffic::spill_write_bytes})
    EXPECT_EQ(damaged([&](auto &c) { ++(c.traffic.front()[0].*number); }),
              "the commands' traffic of X differs from the layer's");
}

TEST(VerifyStream, ATileThatAnotherOverwritesInPartIsNoTile) {
  // The first LOAD once more, a row further, and with its posts.
  EXPECT_NE(damaged([](Compiled &c) {
              isa::Decoded again = decoded(c.stream, 0);
              edit(c, 0, [](auto &d) { d.sync.posts = isa::Sync{}.posts; });
              ++dma(again).spm.row;
              c.stream.insert(c.stream.begin() + 1, isa::encode(again));
              c.info.insert(c.info.begin() + 1, c.info[0]);
            }).find("is not a whole tile"),
            std::string::npos);
}

TEST(VerifyStream, PartialSumsAreNotOverwrittenWhileTheyAreLoaded) {
  std::size_t found = 0;
  for (std::size_t load = 0; load < compiled().stream.size(); ++load) {
    if (!is_load(decoded(compiled().stream, load)) || !in_scratch(decoded(compiled().stream, load))) continue;
    for (std::size_t store = load + 1; store < std::min(load + 12, compiled().stream.size()); ++store)
      if (is_store(decoded(compiled().stream, store)) && in_scratch(decoded(compiled().stream, store))) {
        const std::string problem = damaged([&](Compiled &c) {
          edit(c, store,
               [&](auto &d) { dma(d).dram_addr = std::get<isa::DmaCommand>(decoded(c.stream, load).op).dram_addr; });
        });
        found += problem.find("without waiting for their LOAD") != std::string::npos ? 1U : 0U;
      }
  }
  EXPECT_GT(found, 0U);
}

/// Every single wait matters: whichever is dropped (with the token it took), some access is no longer ordered.
TEST(VerifyStream, NoWaitCanBeDropped) {
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < compiled().stream.size(); ++i)
    for (std::size_t w = 0; w < 3; ++w) {
      const isa::Wait wait = decoded(compiled().stream, i).sync.waits[w];
      if (wait.semaphore == isa::kNoSemaphore) continue;
      ++dropped;
      const std::string problem = damaged([&](Compiled &c) {
        // The token it took is the n-th of its semaphore: drop that post too, so that only the order is broken.
        std::size_t taken = 0;
        for (std::size_t j = 0; j <= i; ++j)
          for (const isa::Wait &other : decoded(c.stream, j).sync.waits)
            taken += other.semaphore == wait.semaphore ? other.count : 0U;
        for (std::size_t j = 0; j < c.stream.size(); ++j)
          for (std::size_t p = 0; p < 3; ++p)
            if (decoded(c.stream, j).sync.posts[p] == wait.semaphore && --taken == 0)
              edit(c, j, [&](auto &d) { d.sync.posts[p] = isa::kNoSemaphore; });
        edit(c, i, [&](auto &d) { d.sync.waits[w] = {}; });
      });
      EXPECT_NE(problem.find("without waiting"), std::string::npos) << "command " << i << ": " << problem;
    }
  EXPECT_GT(dropped, 20U);
}

/// Random single-field damage to the stream is found, or leaves a program that is still right (a TAG, a rotation of a
/// whole life, ...), which the functional model then proves.
TEST(VerifyStream, RandomDamageIsFoundOrHarmless) {
  const LayerOperands operands = make_operands(compiled().layer(), 5, false);
  const auto golden = golden_results(compiled().layer(), Pass::kBackward, operands);
  std::size_t found = 0, harmless = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 rng(seed);
    Compiled broken = compiled();
    const std::size_t i = rng() % broken.stream.size();
    switch (rng() % 3) {
    case 0:
      std::swap(broken.stream[i], broken.stream[rng() % broken.stream.size()]);
      break;
    case 1:
      broken.stream[i].words[rng() % 14] ^= 1U << (rng() % 32);
      break;
    default:
      broken.stream[i] = broken.stream[rng() % broken.stream.size()];
    }
    if (!verify_stream(broken, tiny()).empty()) {
      ++found;
      continue;
    }
    ++harmless;
    EXPECT_TRUE(functional_results(broken, tiny(), operands) == golden) << "seed " << seed << " command " << i;
  }
  EXPECT_GT(found, 300U) << harmless << " harmless";
}

} // namespace
} // namespace gradweave::compiler
