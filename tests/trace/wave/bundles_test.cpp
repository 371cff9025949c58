// Parts of bundled ports.
#include "sw_models/config/npu_config.hpp"
#include "tests/trace/wave/bundles.hpp"
#include "tests/trace/wave/unit.hpp"

#include <algorithm>
#include <fstream>

namespace gradweave::wave {
namespace {

constexpr const char *kTwoCores = "10110100"; ///< of core 1: 1011, of core 0: 0100

std::string text_of(const ChangeList &list) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i)
    text += std::to_string(list.time(i)) + ":" + std::string(list.value(i)) + " ";
  return text;
}

SignalFilter all() {
  SignalFilter filter;
  filter.include("*");
  return filter;
}

TEST(Bundles, APartHasItsBitsOfEachCore) {
  const ChangeList bundle = changes({{0, "00000000"}, {5, kTwoCores}, {7, "10110101"}});
  EXPECT_EQ(text_of(part_of(bundle, {"high", "b", 2, 2, 4})), "0:0000 5:1001 ");
  EXPECT_EQ(text_of(part_of(bundle, {"low", "b", 0, 1, 4})), "0:00 5:10 7:11 ");
}

TEST(Bundles, PartsStandInThePlaceOfTheirBundle) {
  TemporaryFst run("bundles_run"), held("bundles_held");
  run.bits("top.a_q", 1, changes({{0, "0"}}))
      .bits("top.at", 8, changes({{0, kTwoCores}}))
      .bits("top.z", 1, changes({{0, "1"}}));
  SignalFilter filter = all();
  filter.exclude("top.at");
  filter.exclude("top.rot");
  write_held(FstFile(run.write()), filter, {{"top.addr", "top.at", 1, 3, 4}, {"top.rot", "top.at", 0, 1, 4}},
             held.file);
  const FstFile file(held.file);
  ASSERT_EQ(file.signals().size(), 3U);
  EXPECT_EQ(file.signals()[1].name, "top.addr");
  EXPECT_EQ(file.signals()[1].range, "[5:0]");
  EXPECT_EQ(text_of(file.load({file.signals()[1].handle})[0]), "0:101010 ");
  EXPECT_EQ(file.end_time(), 100U);
}

TEST(Bundles, ABundleThatIsNoWholeNumberOfCopiesIsRefused) {
  TemporaryFst run("bundles_odd"), held("bundles_none");
  run.bits("top.at", 6, changes({{0, "000000"}}));
  EXPECT_THROW(write_held(FstFile(run.write()), all(), {{"top.addr", "top.at", 1, 3, 4}}, held.file), ConfigError);
}

TEST(Bundles, LinesThatAreNoPartNameThePlace) {
  const std::string file = test::scratch_file("bundles.txt");
  for (const char *line : {"p b 3:0", "p b 3-0 8", "p b 0:3 8", "p b 8:0 8", "p b 3:0 8 more"}) {
    std::ofstream(file) << "# parts\n\np b 3:0 8 # fits\n" << line << "\n";
    try {
      read_bundles(file);
      ADD_FAILURE() << "accepted: " << line;
    } catch (const ConfigError &error) {
      EXPECT_NE(std::string(error.what()).find(file + ":4: "), std::string::npos) << error.what();
    }
  }
}

/// The table is that of the RTL's bundles: its parts fill them, without a gap and without a bit that two have.
TEST(Bundles, ThePartsOfTheRtlFillTheirBundles) {
  const std::vector<Part> parts = read_bundles("tests/trace/wave/bundles.txt");
  EXPECT_EQ(parts.size(), 16U);
  for (const Part &part : parts) {
    std::vector<int> bits(part.stride);
    for (const Part &other : parts)
      for (std::uint32_t bit = other.lsb; other.bundle == part.bundle && bit < other.lsb + other.width; ++bit)
        ++bits.at(bit);
    EXPECT_EQ(std::count(bits.begin(), bits.end(), 1), static_cast<std::ptrdiff_t>(part.stride)) << part.bundle;
  }
}

} // namespace
} // namespace gradweave::wave
