// FST files: what is written is read again; what is cut, empty or damaged is an error and no crash.
#include "sw_models/config/npu_config.hpp"
#include "tests/trace/wave/unit.hpp"
#include "trace/fst/file_check.hpp"
#include "trace/wave/guard.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <random>

namespace gradweave::wave {
namespace {

std::string read_file(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string &file, const std::string &bytes) { std::ofstream(file, std::ios::binary) << bytes; }

/// A file with all kinds of signals and enough changes for several packed chains.
void fill(TemporaryFst &file) {
  std::mt19937 random(1);
  ChangeList wide, real, text, bit;
  for (std::uint64_t t = 0; t < 150; ++t) {
    std::string value(70, '0');
    for (char &c : value)
      c = "01xz"[random() % 4];
    wide.append(t, value);
    const double number = static_cast<double>(random()) / 7;
    real.append(t, {reinterpret_cast<const char *>(&number), sizeof number});
    if (t % 9 == 0) text.append(t, std::string(t % 40, 'a') + "\x01");
    bit.append(t, t % 3 == 0 ? "1" : "0");
  }
  file.bits("top.wide", 70, wide)
      .add({"top.sub.real", "", SignalKind::kReal, 0, 0}, real)
      .add({"top.sub.text", "", SignalKind::kString, 0, 0}, text)
      .bits("top.sub.deeper.bit", 1, bit)
      .bits("other.bit", 1, bit);
}

TEST(FstRoundTrip, WhatIsWrittenIsReadAgain) {
  TemporaryFst source("round_trip"), copy("round_trip_copy");
  fill(source);
  const FstFile first(source.write(777, -10));
  EXPECT_EQ(first.timescale(), -10);
  EXPECT_EQ(first.start_time(), 0U);
  EXPECT_EQ(first.end_time(), 777U);
  ASSERT_EQ(first.signals().size(), 5U);
  EXPECT_EQ(first.signals()[0].range, "[69:0]");
  EXPECT_EQ(first.signals()[1].kind, SignalKind::kReal);
  EXPECT_EQ(first.signals()[3].name, "top.sub.deeper.bit");

  std::vector<std::string> names;
  for (const Signal &signal : first.signals())
    names.push_back(signal.name);
  copy_signals(first, names, copy.file);
  const FstFile second(copy.file);
  ASSERT_EQ(second.signals().size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const ChangeList a = first.load({first.signals()[i].handle}).front();
    const ChangeList b = second.load({second.signals()[i].handle}).front();
    ASSERT_EQ(a.size(), b.size()) << names[i];
    EXPECT_GT(a.size(), 10U) << names[i];
    for (std::size_t c = 0; c < a.size(); ++c) {
      EXPECT_EQ(a.time(c), b.time(c));
      EXPECT_EQ(a.value(c), b.value(c));
    }
  }
}

TEST(FstRoundTrip, TheSameSignalsGiveTheSameBytes) {
  TemporaryFst one("bytes_one"), two("bytes_two");
  fill(one);
  fill(two);
  EXPECT_EQ(read_file(one.write()), read_file(two.write()));
}

TEST(FstRoundTrip, SignalsOfOneNameStayApart) {
  TemporaryFst file("twice");
  file.bits("top.x", 1, changes({{0, "0"}})).bits("top.x", 1, changes({{0, "1"}}));
  const FstFile read(file.write());
  EXPECT_EQ(read.signals()[0].name, "top.x");
  EXPECT_EQ(read.signals()[1].name, "top.x#2");
}

TEST(FstRoundTrip, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(write_fst("/nowhere/x.fst", {}, {}), std::runtime_error);
}

class DamagedFst : public testing::Test {
protected:
  DamagedFst() {
    fill(file);
    whole = read_file(file.write(777));
  }
  std::string message(const std::string &bytes) {
    write_file(file.file, bytes);
    try {
      check_fst_file(file.file);
    } catch (const ConfigError &e) {
      return e.what();
    }
    return "";
  }
  /// Opens the file and reads all of it, in a child; true if it did.
  bool reads() {
    try {
      return run_guarded(file.file, [this] {
               const FstFile opened(file.file);
               std::vector<std::uint32_t> handles;
               for (const Signal &signal : opened.signals())
                 if (handles.empty() || signal.handle > handles.back()) handles.push_back(signal.handle);
               opened.load(handles);
               return 7;
             }) == 7;
    } catch (const ConfigError &) {
      return false;
    }
  }

  TemporaryFst file{"damaged"};
  std::string whole;
};

TEST_F(DamagedFst, AWholeFileIsFine) {
  EXPECT_EQ(message(whole), "");
  EXPECT_TRUE(reads());
}

TEST_F(DamagedFst, CutAnywhereItIsAnError) {
  for (std::size_t size = 0; size < whole.size(); size += size < 500 ? 1 : 61)
    EXPECT_NE(message(whole.substr(0, size)), "") << "cut to " << size << " of " << whole.size() << " bytes";
}

TEST_F(DamagedFst, MessagesSayWhatIsWrong) {
  EXPECT_EQ(message(""), file.file + ": is empty; record it again");
  EXPECT_NE(message("$date today $end\n").find("is no FST file; convert other formats first"), std::string::npos);
  EXPECT_NE(message(whole.substr(0, whole.size() - 1)).find("the file is cut or damaged"), std::string::npos);
  EXPECT_NE(message(whole + "more").find("bytes are missing"), std::string::npos);
  std::string unfinished = whole;
  unfinished[330] = '\xff'; // the block behind the header
  EXPECT_NE(message(unfinished).find("still being written"), std::string::npos) << message(unfinished);
  EXPECT_THROW(FstFile(std::string("/nowhere.fst")), ConfigError);
  EXPECT_THROW(FstFile(std::string(testing::TempDir())), ConfigError);
}

TEST_F(DamagedFst, FlippedBytesDoNotEndTheProcess) {
  std::mt19937 random(2);
  unsigned refused = 0;
  for (int i = 0; i < 100; ++i) {
    std::string damaged = whole;
    for (int flips = 0; flips < 3; ++flips)
      damaged[330 + random() % (damaged.size() - 330)] ^= static_cast<char>(1U << random() % 8);
    write_file(file.file, damaged);
    if (!reads()) ++refused;
  }
  EXPECT_GT(refused, 25U);
}

TEST(Guard, ReturnsAndThrowsWhatTheWorkDoes) {
  EXPECT_EQ(run_guarded("f", [] { return 1; }), 1);
  EXPECT_THROW(run_guarded("f", []() -> int { throw ConfigError("c"); }), ConfigError);
  EXPECT_THROW(run_guarded("f", []() -> int { throw std::invalid_argument("i"); }), std::invalid_argument);
  EXPECT_THROW(run_guarded("f", []() -> int { throw std::runtime_error("r"); }), std::runtime_error);
}

TEST(Guard, ACrashIsAnErrorOfTheFile) {
  for (const bool signal : {true, false}) {
    try {
      run_guarded("a.fst and b.fst", [=]() -> int {
        if (signal) std::raise(SIGKILL);
        std::_Exit(255);
      });
      FAIL();
    } catch (const ConfigError &e) {
      EXPECT_NE(std::string(e.what()).find("a.fst and b.fst: the FST reader"), std::string::npos) << e.what();
    }
  }
}

} // namespace
} // namespace gradweave::wave
