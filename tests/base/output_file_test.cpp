#include "base/file/output_file.hpp"
#include "base/file/unfinished.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public ::testing::Test {
protected:
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  static std::string read(const fs::path &file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  const test::ScratchDirectory scratch_;
  const fs::path directory_ = scratch_.path();
};

TEST_F(OutputFileTest, AppearsOnlyWhenCommitted) {
  const fs::path file = directory_ / "report.json";
  OutputFile output(file);
  EXPECT_FALSE(fs::exists(file));
  output.commit("text");
  EXPECT_EQ(read(file), "text");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFileTest, GrowsUntilCommitted) {
  const fs::path file = directory_ / "times.csv";
  OutputFile output(file);
  output.append("a");
  output.append("b");
  EXPECT_FALSE(fs::exists(file));
  output.commit("c");
  EXPECT_EQ(read(file), "abc");
}

TEST_F(OutputFileTest, DirectoriesAreToldByTheirNameOrExistence) {
  const std::string fresh = (directory_ / "new").string();
  EXPECT_FALSE(names_directory(fresh));
  EXPECT_TRUE(names_directory(fresh + "/"));
  make_output_directory(fresh + "/", "--option");
  EXPECT_TRUE(names_directory(fresh));
  EXPECT_FALSE(names_directory(""));
  EXPECT_FALSE(names_directory("-"));
  OutputFile(directory_ / "file").commit("");
  try {
    make_output_directory((directory_ / "file" / "in").string(), "--option");
    FAIL() << "a directory below a file";
  } catch (const OutputError &error) {
    EXPECT_NE(std::string(error.what()).find("choose another --option"), std::string::npos) << error.what();
  }
}

TEST_F(OutputFileTest, LeavesNothingBehindWithoutCommit) {
  { const OutputFile output(directory_ / "report.json"); }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(OutputFileTest, KeepsAnEarlierFileUntilCommitted) {
  const fs::path file = directory_ / "report.json";
  OutputFile(file).commit("old");
  { const OutputFile abandoned(file); }
  EXPECT_EQ(read(file), "old");
  OutputFile(file).commit("new");
  EXPECT_EQ(read(file), "new");
}

TEST_F(OutputFileTest, AProcessThatEndsAtOnceCanRemoveIt) {
  const fs::path file = directory_ / "report.json";
  OutputFile(file).commit("old");
  EXPECT_EXIT(
      {
        OutputFile(directory_ / "finished").commit("");
        const OutputFile one(file);
        const OutputFile two(directory_ / "two");
        Unfinished::remove_all();
        ::_exit(entries() == 2 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(read(file), "old");
}

TEST_F(OutputFileTest, ReplacesTheFileBehindALink) {
  const fs::path file = directory_ / "real.json";
  const fs::path link = directory_ / "link.json";
  OutputFile(file).commit("old");
  fs::create_symlink(file, link);
  OutputFile(link).commit("new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read(file), "new");
}

TEST_F(OutputFileTest, WritesDevicesDirectly) {
  OutputFile("/dev/null").commit("text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputFileTest, RefusesDirectoriesAndMissingOnes) {
  EXPECT_THROW(OutputFile output(directory_), OutputError);
  try {
    const OutputFile output(directory_ / "none" / "report.json");
    FAIL() << "a file in a directory that does not exist";
  } catch (const OutputError &error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("none/report.json"), std::string::npos) << what;
    EXPECT_NE(what.find("choose another file"), std::string::npos) << what;
  }
}

TEST(FileNamePart, KeepsOnlyPlainCharacters) { EXPECT_EQ(file_name_part("a/b c.d-e_1"), "a_b_c.d-e_1"); }

} // namespace
} // namespace gradweave
