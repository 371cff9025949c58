// Waveforms: a window of cycles as an FST file that holds control signals but no array internals.
#include "tests/support/scratch_directory.hpp"
#include "tests/tb/small_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace gradweave::tb {
namespace {

constexpr std::uint64_t kPeriodPs = 1000; ///< configs/test8.toml runs at 1 GHz

/// The header block of an FST file: big-endian numbers at fixed places.
struct FstHeader {
  explicit FstHeader(const std::string &file) {
    std::ifstream in(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  bool valid() const { return bytes.size() > 330 && bytes[0] == 0 && number(1) == 329; }
  std::uint64_t start_time() const { return number(9); }
  std::uint64_t end_time() const { return number(17); }
  std::uint64_t variables() const { return number(49); }
  int timescale() const { return static_cast<signed char>(bytes[73]); } ///< power of ten, seconds

  std::uint64_t number(std::size_t at) const {
    std::uint64_t n = 0;
    for (std::size_t i = at; i < at + 8; ++i)
      n = n << 8U | static_cast<std::uint8_t>(bytes[i]);
    return n;
  }
  std::string bytes;
};

class TraceTest : public testing::Test {
protected:
  ~TraceTest() override { std::remove(options.trace.file.c_str()); }

  std::unique_ptr<RtlDevice> make() {
    return std::make_unique<RtlDevice>(load_machine("configs/test8.toml"), options, make_npu_model());
  }
  void run() {
    const auto device = make();
    device->allocate(SmallProgram::kEnd, 4096);
    SmallProgram::expect_works(*device, 1);
    last_cycle = device->cycle();
  }

  DeviceOptions options;
  std::uint64_t last_cycle = 0;
};

TEST_F(TraceTest, WholeRun) {
  options.trace.file = test::scratch_file("whole.fst");
  run();
  const FstHeader fst(options.trace.file);
  ASSERT_TRUE(fst.valid());
  EXPECT_EQ(fst.timescale(), -12);
  EXPECT_EQ(fst.start_time(), 1 * kPeriodPs);
  EXPECT_EQ(fst.end_time(), last_cycle * kPeriodPs + kPeriodPs / 2);
  EXPECT_GT(fst.variables(), 100U);
}

TEST_F(TraceTest, WindowOfCycles) {
  options.trace = {test::scratch_file("window.fst"), 300, 400};
  run();
  ASSERT_GT(last_cycle, 400U);
  const FstHeader fst(options.trace.file);
  ASSERT_TRUE(fst.valid());
  EXPECT_EQ(fst.start_time(), 300 * kPeriodPs);
  EXPECT_EQ(fst.end_time(), 400 * kPeriodPs + kPeriodPs / 2);
}

TEST_F(TraceTest, AFileThatCannotBeWrittenIsAnError) {
  options.trace.file = "/nowhere/trace.fst";
  try {
    make();
    FAIL() << "no exception";
  } catch (const std::runtime_error &e) {
    EXPECT_NE(std::string(e.what()).find("cannot write the trace file /nowhere/trace.fst"), std::string::npos)
        << e.what();
  }
}

TEST_F(TraceTest, NoFileUnlessAskedFor) {
  const auto files = [] {
    const auto here = std::filesystem::directory_iterator(std::filesystem::current_path());
    return std::count_if(begin(here), end(here), [](const auto &entry) { return entry.path().extension() == ".fst"; });
  };
  const auto before = files();
  run();
  EXPECT_EQ(files(), before);
}

} // namespace
} // namespace gradweave::tb
