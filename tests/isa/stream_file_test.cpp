// Stream files come back bit for bit, and every kind of damage is found and named.
#include "isa/assembler.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gradweave::isa {
namespace {

namespace fs = std::filesystem;

class StreamFile : public testing::Test {
protected:
  void SetUp() override {
    stream_ = assemble("SYNC engine=0 post=1\nSYNC engine=1 wait=1:1\nRAW 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
  }

  void write_byte(std::streamoff at, char value) const {
    std::fstream f(file_, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(at);
    f.put(value);
  }
  void expect_error(const std::string &part) const {
    try {
      read_stream_file(file_);
      FAIL() << "accepted; expected: " << part;
    } catch (const AssemblyError &e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).rfind(file_.string() + ": ", 0), 0U) << e.what();
    }
  }

  const test::ScratchDirectory scratch_;
  const fs::path dir_ = scratch_.path(), file_ = dir_ / "s.gws";
  std::vector<Command> stream_;
};

TEST_F(StreamFile, ComesBack) {
  write_stream_file(file_, stream_);
  EXPECT_EQ(read_stream_file(file_), stream_);
  write_stream_file(file_, {}); // replaces
  EXPECT_TRUE(read_stream_file(file_).empty());
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), fs::directory_iterator()), 1) << "a partial file was left";
}

TEST_F(StreamFile, BeginsWithMagicVersionCountAndChecksum) {
  write_stream_file(file_, {});
  std::string bytes(64, 'x');
  std::ifstream in(file_, std::ios::binary);
  in.read(bytes.data(), 64);
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  std::string expected("GWS\0", 4);
  const std::uint64_t count = 0, offset_basis = 14695981039346656037U; // of FNV-1a: the checksum of no bytes
  expected.append(reinterpret_cast<const char *>(&kVersion), sizeof kVersion);
  expected.append(reinterpret_cast<const char *>(&count), sizeof count);
  expected.append(reinterpret_cast<const char *>(&offset_basis), sizeof offset_basis);
  EXPECT_EQ(bytes, expected);
}

TEST_F(StreamFile, MissingFile) { expect_error("no such file; check the name"); }

TEST_F(StreamFile, NoStream) {
  std::ofstream(file_) << "hello, this is a text file of some length";
  expect_error("is no command stream");
  std::ofstream(file_, std::ios::trunc) << "GWS";
  expect_error("is no command stream");
}

TEST_F(StreamFile, OtherVersion) {
  write_stream_file(file_, stream_);
  write_byte(4, 99);
  expect_error("ISA version 99");
}

TEST_F(StreamFile, Truncated) {
  write_stream_file(file_, stream_);
  fs::resize_file(file_, fs::file_size(file_) - 1);
  expect_error("has 191 bytes of commands, but its header says 3 commands of 64 bytes");
}

TEST_F(StreamFile, TooLong) {
  write_stream_file(file_, stream_);
  fs::resize_file(file_, fs::file_size(file_) + 64);
  expect_error("truncated or changed");
}

TEST_F(StreamFile, HugeCountInTheHeader) {
  write_stream_file(file_, stream_);
  write_byte(15, 127);
  expect_error("truncated or changed");
}

TEST_F(StreamFile, ChangedByte) {
  write_stream_file(file_, stream_);
  write_byte(24 + 70, 1);
  expect_error("its checksum is wrong");
}

TEST_F(StreamFile, UnwritableLeavesNothing) {
  EXPECT_THROW(write_stream_file(dir_ / "no" / "s.gws", stream_), AssemblyError);
  fs::create_directories(file_ / "occupied"); // a directory cannot be replaced by a file
  EXPECT_THROW(write_stream_file(file_, stream_), AssemblyError);
  EXPECT_FALSE(fs::exists(file_.string() + ".partial"));
}

} // namespace
} // namespace gradweave::isa
