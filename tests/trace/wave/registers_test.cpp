// Do the goldens see every register? Each is in them, or left out by a rule; each that is in them changes in some
// stream, so that its delay would show; and the delay of any of them is told by cycle and name.
#include "sw_models/config/npu_config.hpp"
#include "tests/trace/wave/scenario.hpp"
#include "tests/trace/wave/unit.hpp"
#include "trace/wave/diff.hpp"
#include "trace/wave/diff_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

namespace gradweave::wave {
namespace {

const std::string kWave = "tests/trace/wave/";
constexpr const char *kNpus[] = {"test8", "test6x10", "test13x7", "test8c2", "test8v2"};

/// A golden with all its values.
struct Golden {
  std::unique_ptr<FstFile> file;
  std::vector<ChangeList> changes; ///< of file->signals()
};

/// The goldens of the streams of an NPU, by the streams' names.
std::map<std::string, Golden> goldens_of(const std::string &npu) {
  std::map<std::string, Golden> goldens;
  for (const Scenario &scenario : read_catalog(kWave + "streams")) {
    if (scenario.npu != npu) continue;
    Golden golden{std::make_unique<FstFile>(kWave + "goldens/" + scenario.name + ".fst"), {}};
    std::map<std::uint32_t, std::size_t> place;
    std::vector<std::uint32_t> handles;
    for (const Signal &signal : golden.file->signals())
      if (place.emplace(signal.handle, handles.size()).second) handles.push_back(signal.handle);
    const std::vector<ChangeList> lists = golden.file->load(handles);
    for (const Signal &signal : golden.file->signals())
      golden.changes.push_back(lists[place.at(signal.handle)]);
    goldens.emplace(scenario.name, std::move(golden));
  }
  return goldens;
}

/// The name without scopes of generate blocks and without index, as tests/trace/wave/registers.sh tells it.
std::string plain(const std::string &name) {
  std::string text;
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, '.');)
    if (part.rfind("gen_", 0) != 0) text += (text.empty() ? "" : ".") + part;
  return text.substr(0, text.find('['));
}

std::vector<std::string> lines_of(const std::string &file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

/// Signals that no stream moves.
std::vector<std::string> quiet_names() {
  std::vector<std::string> names;
  for (const std::string &line : lines_of(kWave + "quiet.txt")) {
    std::istringstream words(line.substr(0, line.find('#')));
    if (std::string name; words >> name) names.push_back(name);
  }
  return names;
}

class Registers : public testing::TestWithParam<const char *> {};

TEST_P(Registers, AreInTheGoldensOrLeftOutByARule) {
  const SignalFilter rules = read_signal_filter(kWave + "signals.txt");
  std::set<std::string> held;
  for (const auto &entry : goldens_of(GetParam()))
    for (const Signal &signal : entry.second.file->signals())
      held.insert(plain(signal.name));
  const std::vector<std::string> registers = lines_of(fmt::format("{}/{}.registers", GW_REGISTERS, GetParam()));
  EXPECT_GT(registers.size(), 200U);
  for (const std::string &line : registers) {
    const std::string name = "TOP." + line;
    EXPECT_TRUE(held.count(name) == 1 || rules.ruling(name) == false)
        << name
        << " is a register that no golden holds; take it in tests/trace/wave/signals.txt and accept new goldens, or "
        << "leave it out there with a reason";
  }
}

/// The same register of another NPU or core will do: it is the same line of rtl/.
TEST(RegistersOfAllNpus, ChangeInSomeStream) {
  std::set<std::string> moved, all;
  for (const char *npu : kNpus)
    for (const auto &[stream, golden] : goldens_of(npu))
      for (std::size_t i = 0; i < golden.changes.size(); ++i) {
        const std::string name = plain(golden.file->signals()[i].name);
        all.insert(name);
        if (golden.changes[i].size() > 1) moved.insert(name);
      }
  const std::vector<std::string> quiet = quiet_names();
  for (const std::string &name : all) {
    const bool waived = std::count(quiet.begin(), quiet.end(), name) == 1;
    if (moved.count(name) == 1)
      EXPECT_FALSE(waived) << name << " changes: take it out of tests/trace/wave/quiet.txt";
    else
      EXPECT_TRUE(waived) << name
                          << " never changes, so nobody would see it late; add a stream, or a line with a reason "
                          << "to tests/trace/wave/quiet.txt";
  }
  for (const std::string &name : quiet)
    EXPECT_EQ(all.count(name), 1U) << name << " of tests/trace/wave/quiet.txt is in no golden";
}

/// A cycle later from the change in the middle on.
ChangeList delayed(const ChangeList &list, std::uint64_t period) {
  ChangeList late;
  for (std::size_t i = 0; i < list.size(); ++i)
    late.append(list.time(i) + (2 * i >= list.size() ? period : 0), list.value(i));
  return late;
}

/// Of a clock gate: it takes what it is given while the clock is low.
bool is_latch(const std::string &name) { return name.find("u_gate.open") != std::string::npos; }

TEST_P(Registers, ADelayOfAnyIsToldByCycleAndName) {
  const double clock_ghz = load_machine(fmt::format("configs/{}.toml", GetParam())).clock_ghz;
  const auto period = static_cast<std::uint64_t>(std::llround(1000 / clock_ghz)); // goldens are in ps
  std::set<std::string> done;
  TemporaryFst broken("delayed");
  for (const auto &[stream, golden] : goldens_of(GetParam())) {
    const std::vector<Signal> &signals = golden.file->signals();
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if (golden.changes[i].size() < 2 || !done.insert(signals[i].name).second) continue;
      const ChangeList late = delayed(golden.changes[i], period);
      write_fst(broken.file, {{signals[i], &late}}, {golden.file->timescale(), golden.file->end_time() + period});
      DiffOptions options;
      options.filter.include(signals[i].name);
      options.common = true;
      const DiffReport report = diff(*golden.file, FstFile(broken.file), options);
      ASSERT_EQ(report.differing.size(), 1U) << stream << " " << signals[i].name;
      const std::uint64_t time = golden.changes[i].time((golden.changes[i].size() + 1) / 2);
      const TimeFormat format = time_format(report, period);
      const std::string line = first_difference(report.differing[0], format, {"expected", "actual"});
      EXPECT_EQ(line.rfind(fmt::format("{}: {}", format(time), signals[i].name), 0), 0U) << line;
      const std::size_t phase = is_latch(signals[i].name) ? period / 2 : 0;
      EXPECT_EQ(time % period, phase) << line;
    }
  }
  EXPECT_GT(done.size(), 250U);
}

INSTANTIATE_TEST_SUITE_P(Goldens, Registers, testing::ValuesIn(kNpus),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace gradweave::wave
