// The random streams used against the RTL are themselves tested here: legal, free of races, and varied.
#include "app/validate/corpus/random_stream.hpp"
#include "isa/assembler.hpp"
#include "sw_models/functional/functional.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/validate/racing_npu.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace gradweave::test {
namespace {

const Machine &config_of(const std::string &name) {
  static std::map<std::string, Machine> configs;
  auto it = configs.find(name);
  if (it == configs.end()) it = configs.emplace(name, load_machine("configs/" + name + ".toml")).first;
  return it->second;
}

corpus::RandomStream stream_of(const std::string &npu, std::uint64_t seed) {
  corpus::RandomStreamOptions options;
  options.seed = seed;
  options.dram_base = 0x10000;
  options.max_gemm_macs = 1U << 14U;
  return corpus::make_random_stream(config_of(npu), options);
}

/// Runs a stream on the functional model; the commands lie behind the data.
FunctionalNpu::Status run_functional(const Machine &config, const corpus::RandomStream &s,
                                     std::vector<std::uint8_t> &image) {
  DeviceMemory memory(16U << 20U);
  memory.write(s.dram_base, s.dram_image.data(), s.dram_image.size());
  const std::uint64_t commands_at = (s.dram_base + s.dram_image.size() + 4095) / 4096 * 4096;
  memory.write(commands_at, s.commands.data(), s.commands.size() * sizeof(isa::Command));
  FunctionalNpu npu(config, memory);
  npu.start(commands_at, static_cast<std::uint32_t>(s.commands.size()));
  const FunctionalNpu::Status status = npu.run();
  image.resize(s.dram_image.size());
  memory.read(s.dram_base, image.data(), image.size());
  return status;
}

class RandomStreams : public testing::TestWithParam<const char *> {};

TEST_P(RandomStreams, HaveTheSameResultWhateverTheTiming) {
  const Machine &config = config_of(GetParam());
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const corpus::RandomStream s = stream_of(GetParam(), seed);
    std::vector<std::uint8_t> expected;
    const FunctionalNpu::Status status = run_functional(config, s, expected);
    ASSERT_TRUE(status.done) << "seed " << seed << " command " << status.error_index << " error "
                             << isa::kErrorNames[static_cast<std::size_t>(status.error)] << ": "
                             << isa::disassemble(s.commands[status.error_index]);
    ASSERT_NE(expected, s.dram_image) << "seed " << seed << ": the stream changed nothing";
    for (std::uint64_t race = 0; race < 4; ++race) {
      std::vector<std::uint8_t> memory = s.dram_image;
      ASSERT_TRUE(RacingNpu(config, s.dram_base, memory, 1000 * seed + race).run(s.commands))
          << "deadlock, seed " << seed << " race " << race;
      ASSERT_EQ(memory, expected) << "seed " << seed << " race " << race;
    }
  }
}

/// Each wait matters: without it some timing gives another result (in most cases within the few tried here).
TEST_P(RandomStreams, RacesShowWhenAWaitIsMissing) {
  const Machine &config = config_of(GetParam());
  int removed = 0;
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    corpus::RandomStream s = stream_of(GetParam(), seed);
    std::vector<std::uint8_t> expected;
    run_functional(config, s, expected);
    Dice dice(seed);
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < s.commands.size(); ++i) {
      const isa::Decoded command = *isa::decode(s.commands[i]);
      for (const isa::Wait &w : command.sync.waits)
        if (w.semaphore != isa::kNoSemaphore) waiting.push_back(i);
    }
    ASSERT_FALSE(waiting.empty());
    const std::size_t at = waiting[dice.below(waiting.size())];
    isa::Decoded d = *isa::decode(s.commands[at]);
    for (isa::Wait &w : d.sync.waits)
      w = {};
    s.commands[at] = isa::encode(d);
    ++removed;
    for (std::uint64_t race = 0; race < 20; ++race) {
      std::vector<std::uint8_t> memory = s.dram_image;
      if (!RacingNpu(config, s.dram_base, memory, race).run(s.commands) || memory != expected) {
        ++seen;
        break;
      }
    }
  }
  EXPECT_GT(seen, removed / 3) << "of " << removed;
}

/// What the acceptance of the RTL relies on being exercised.
class SeenInStreams {
public:
  explicit SeenInStreams(const Machine &config) : config_(config), units_(config.vectors()) {
    for (std::uint32_t core = 0; core < config.cores; ++core)
      note(fmt::format("GEMM on core {}", core), false);
  }

  void begin() { units_.assign(units_.size(), {}); }

  void add(const isa::Decoded &d) {
    waits(d.sync);
    std::visit([&](const auto &op) { command(op); }, d.op);
  }

  const std::map<std::string, int> &times() const { return times_; }

private:
  void note(const std::string &what, bool happened) { times_[what] += happened ? 1 : 0; }

  void waits(const isa::Sync &sync) {
    std::size_t waits = 0;
    for (const isa::Wait &w : sync.waits) {
      note("count above one", w.count > 1);
      if (w.semaphore != isa::kNoSemaphore) ++waits;
    }
    note("two waits", waits == 2);
    note("three waits", waits == 3);
    note("no wait", waits == 0);
  }

  void tile(const isa::SpmTile &t, std::uint32_t rows, std::uint32_t cols, bool fp32) {
    const std::uint32_t lanes = config_.lanes();
    const std::uint32_t last = t.row + (cols - 1) / lanes * t.pstride + rows * (fp32 ? 2 : 1) - 1;
    note("tile of several panels", cols > lanes);
    note("rotated tile", t.rot != 0);
    note("tile across banks", t.row / config_.bank_rows() != last / config_.bank_rows());
    note("gap between panels", cols > lanes && t.pstride > rows * (fp32 ? 2 : 1));
  }

  void command(const isa::SyncCommand &s) {
    note("SYNC on load", s.engine == 0);
    note("SYNC on store", s.engine == 1);
    note("SYNC on compute", s.engine >= 2 && !isa::is_vector_engine(s.engine));
    if (config_.vectors() != 0) note("SYNC on a vector unit", isa::is_vector_engine(s.engine));
  }

  void command(const isa::ProgramCommand &p) {
    note("words of a program", true);
    note("a few words", p.count < 6);
    note("the memory's last word", p.at + p.count == isa::kProgramWords);
    units_[p.unit].take(p);
  }

  void command(const isa::TileCommand &t) {
    for (const isa::VectorTile &tile : t.tiles)
      note("TILE with places left", tile.slot == isa::kNoSlot);
    units_[t.unit].take(t);
  }

  void command(const isa::VectorCommand &v) {
    note(fmt::format("VECTOR on unit {}", v.unit), true);
    note("elements in several strips", v.elements > config_.lanes());
    note("strips in several groups", v.elements > config_.lanes() * 4 * config_.vector_groups);
    note("a partial strip", v.elements % config_.lanes() != 0);
    note("one step", v.steps == 1);
    note("several steps", v.steps > 1);
    const std::vector<vector::TileUse> uses = units_[v.unit].uses(v);
    note("four results",
         uses.size() > 3 && !uses[uses.size() - 4].tile.same_element && uses[uses.size() - 4].is_result());
    for (const vector::TileUse &use : uses) {
      const isa::VectorTile &t = use.tile;
      const std::string what = use.is_result() ? "result" : "operand";
      note(what + (t.fp32 ? " in fp32" : " in bf16") + (t.by_col ? " by columns" : " by rows"), true);
      note(what + " that begins inside a panel", t.col != 0);
      note(what + " across panels by rows", !t.by_col && t.col + t.cols > config_.lanes());
      note(what + " across panels by columns", t.by_col && t.col + t.cols > config_.lanes());
      note(what + " repeated in steps", t.same_step && use.in_loop && v.steps > 1);
      if (!use.is_result()) note("operand repeated in elements", t.same_element && v.elements > 1);
      note("elements in place", use.is_result() && std::any_of(uses.begin(), uses.end(), [&](const auto &o) {
                                  return !o.is_result() && o.tile.spm.row == t.spm.row && o.tile.col == t.col;
                                }));
    }
  }

  void command(const isa::DmaCommand &m) {
    const std::uint64_t row_bytes = std::uint64_t{m.cols} * (m.fp32 ? 4 : 2);
    note("LOAD bf16", !m.store && !m.fp32);
    note("LOAD fp32", !m.store && m.fp32);
    note("STORE bf16", m.store && !m.fp32);
    note("STORE fp32", m.store && m.fp32);
    note("unaligned row", m.dram_addr % config_.bus_bytes != 0);
    note("row across 4 KB", m.dram_addr / 4096 != (m.dram_addr + row_bytes - 1) / 4096);
    note("one element", m.rows == 1 && m.cols == 1);
    note("rows that overlap", m.rows > 1 && m.pitch < row_bytes);
    note("several bursts a row", row_bytes > 2048); // two pages, or more beats than a burst of an 8-byte bus has
    tile(m.spm, m.rows, m.cols, m.fp32);
  }

  void command(const isa::ConvCommand &v) {
    const isa::ImageWalk &i = v.image;
    const isa::GemmCommand &g = v.product;
    note(v.weights ? "WGRAD" : "CONV", true);
    if (v.weights) {
      note("lines that take no part", i.out_w < i.grid_w || i.out_h < i.grid_h);
      return;
    }
    note("several taps", i.taps() > 1);
    note("one tap", i.taps() == 1);
    note("stride", i.stride > 1);
    const bool phases = i.stride > 1 && i.taps() > 1 && i.plane > 0;
    note("taps in several phases", phases);
    note("phases that are packed", phases && i.packed);
    note("dilation", i.step_x > 1 && i.taps_x > 1);
    note("turned kernel", i.step_x < 0 && i.taps_x > 1);
    note("several images", (i.grid_y + (g.m - 1) / i.grid_w) >= i.grid_h);
    note("rows of blocks", g.m > config_.rows);
    note("channels across panels", g.k > config_.lanes());
  }

  void command(const isa::AddCommand &a) {
    const bool in_place = a.cout.row == a.a.row || a.cout.row == a.cin.row;
    note("sum in place", in_place);
    note("sum elsewhere", !in_place);
    note("bf16 sum", a.out_bf16);
    note("sum of several chunks", a.n > config_.cols);
    note("sum of a tile with itself", a.a.row == a.cin.row);
    tile(a.a, a.m, a.n, true);
  }

  void command(const isa::GemmCommand &g) {
    note(fmt::format("GEMM on core {}", g.core), true);
    note(g.a_col ? "A by columns" : "A by rows", true);
    note(g.b_col ? "B by columns" : "B by rows", true);
    note("bf16 result", g.out_bf16);
    note("accumulation in place", g.acc && g.cin.row == g.cout.row);
    note("accumulation elsewhere", g.acc && g.cin.row != g.cout.row);
    note("accumulation into bf16", g.acc && g.out_bf16);
    note("K of one", g.k == 1);
    note("M of one", g.m == 1);
    note("N of one", g.n == 1);
    note("several blocks", g.m > config_.rows && g.n > config_.cols);
    note("partial block", g.m % config_.rows != 0 && g.n % config_.cols != 0);
    note("full block", g.m % config_.rows == 0 && g.n % config_.cols == 0);
    tile(g.a, g.a_col ? g.m : g.k, g.a_col ? g.k : g.m, false);
    tile(g.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n, false);
    tile(g.cout, g.m, g.n, !g.out_bf16);
  }

  const Machine &config_;
  std::vector<vector::UnitState> units_;
  std::map<std::string, int> times_;
};

TEST_P(RandomStreams, CoverTheInstructionSet) {
  const Machine &npu = config_of(GetParam());
  SeenInStreams seen(npu);
  const std::uint64_t streams = npu.vectors() == 0 ? 300 : 900; // where there are programs, there are fewer products
  for (std::uint64_t seed = 0; seed < streams; ++seed) {
    const corpus::RandomStream stream = stream_of(GetParam(), seed);
    seen.begin();
    for (const isa::Command &c : stream.commands)
      seen.add(*isa::decode(c));
  }
  for (const auto &[what, times] : seen.times())
    EXPECT_GE(times, 10) << what;
}

/// Both kinds of accumulation on a GEMM's results: protected by a semaphore, and by the distance of three blocks.
TEST_P(RandomStreams, UseTheThreeBlockGuaranteeAndSelfWaits) {
  int guaranteed = 0;
  int waited = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const corpus::RandomStream s = stream_of(GetParam(), seed);
    std::map<std::pair<std::uint8_t, std::uint8_t>, bool> posted; // by an engine, of a semaphore
    for (const isa::Command &c : s.commands) {
      const isa::Decoded d = *isa::decode(c);
      for (const std::uint8_t p : d.sync.posts)
        posted[{d.engine(), p}] = true;
    }
    struct Writer {
      std::size_t index = 0;
      std::uint8_t engine = 0;
    };
    std::map<std::uint32_t, Writer> writer;       // of a result row
    std::map<std::uint8_t, std::size_t> last_own; // command of a core that waited for itself, or its last ADD
    std::size_t index = 0;
    for (const isa::Command &c : s.commands) {
      const isa::Decoded d = *isa::decode(c);
      ++index;
      for (const isa::Wait &w : d.sync.waits)
        if (w.semaphore != isa::kNoSemaphore && posted.count({d.engine(), w.semaphore}) != 0) {
          ++waited;
          last_own[d.engine()] = index;
        }
      if (std::holds_alternative<isa::AddCommand>(d.op)) last_own[d.engine()] = index;
      const auto *g = std::get_if<isa::GemmCommand>(&d.op);
      if (g == nullptr) continue;
      const auto it = g->acc ? writer.find(g->cin.row) : writer.end();
      if (it != writer.end() && it->second.engine == d.engine() && it->second.index > last_own[d.engine()])
        ++guaranteed;
      if (!g->out_bf16) writer[g->cout.row] = {index, d.engine()};
    }
  }
  EXPECT_GE(guaranteed, 10);
  EXPECT_GE(waited, 10);
}

/// On an NPU with lines much longer than columns a GEMM's result can be larger than all that is loaded.
TEST(RandomStream, MovesWhatFitsOfLargeResults) {
  Machine npu = config_of("test8");
  npu.rows = 2;
  npu.cols = 64;
  npu.bus_bytes = 128;
  npu.spm_bytes = 65536;
  for (const std::uint64_t seed : {328, 715, 1083, 1219, 2290}) {
    corpus::RandomStreamOptions options;
    options.seed = seed;
    const corpus::RandomStream s = corpus::make_random_stream(npu, options);
    std::vector<std::uint8_t> image;
    EXPECT_TRUE(run_functional(npu, s, image).done) << "seed " << seed;
  }
}

TEST(RandomStream, IsTheSameForTheSameSeed) {
  const corpus::RandomStream a = stream_of("test8", 5);
  const corpus::RandomStream b = stream_of("test8", 5);
  EXPECT_EQ(a.commands, b.commands);
  EXPECT_EQ(a.dram_image, b.dram_image);
  EXPECT_NE(a.commands, stream_of("test8", 6).commands);
}

/// Seeds in reports mean the same streams for everybody: update the value when the generator changes.
TEST(RandomStream, IsTheSameWithEveryCompiler) {
  std::uint64_t hash = 0;
  const corpus::RandomStream s = stream_of("test6x10", 5);
  for (const isa::Command &c : s.commands)
    for (const std::uint32_t w : c.words)
      hash = (hash ^ w) * 0x100000001b3U;
  for (const std::uint8_t b : s.dram_image)
    hash = (hash ^ b) * 0x100000001b3U;
  EXPECT_EQ(hash, 13244278206246617147U);
}

TEST_P(RandomStreams, HaveTimesInTheModelThatAddUpToCycles) {
  const Machine &npu = config_of(GetParam());
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    corpus::RandomStreamOptions options;
    options.seed = seed;
    const timing::RunResult r = timing::run(npu, corpus::make_random_stream(npu, options).commands);
    ASSERT_TRUE(r.ok()) << "seed " << seed;
    std::map<std::string, std::uint64_t> sums;
    for (std::size_t i = 0; i < r.counters.size(); ++i)
      if (const std::string group = isa::counter_group(i, npu.cores); !group.empty()) sums[group] += r.counters[i];
    for (const auto &[group, sum] : sums)
      EXPECT_EQ(sum, r.cycles()) << "seed " << seed << ", group " << group;
  }
}

INSTANTIATE_TEST_SUITE_P(Npus, RandomStreams,
                         testing::Values("test8", "test6x10", "test8c2", "test8c8", "test6x10c3", "test8v2",
                                         "test6x10v1", "test8c2v8"));

} // namespace
} // namespace gradweave::test
