// A waveform that does not fit: told, and neither it nor what its library writes beside it is left.
#include "tests/cli/command_line.hpp"

namespace gradweave::test {
namespace {

class CliTrace : public CommandLineTest {
protected:
  CliTrace() { write("t.csv", "a,20,30,40\n"); }
  const std::vector<std::string> command_{"cosim",   "--model", "./t.csv",     "--npu", "test8",
                                          "--trace", "fst",     "--trace-dir", "."};
};

TEST_F(CliTrace, AWaveformIsWholeOrAbsent) {
  const std::vector<std::string> before = files();
  const CommandResult whole = run(command_);
  ASSERT_EQ(whole.code, 0) << whole.out << whole.err;
  const std::vector<std::string> after = files();
  ASSERT_EQ(after.size(), before.size() + 1);
  std::uintmax_t bytes = 0;
  for (const std::string &name : after)
    if (std::find(before.begin(), before.end(), name) == before.end()) {
      bytes = std::filesystem::file_size(work() / name);
      std::filesystem::remove(work() / name);
    }
  for (const std::uintmax_t room : {bytes - 1, bytes / 2, bytes / 8, std::uintmax_t{2000}}) {
    const CommandResult r = run_limited(room, command_);
    EXPECT_EQ(r.code, 5) << room << " of " << bytes << " bytes: " << r.out << r.err;
    EXPECT_EQ(files(), before) << room << " of " << bytes << " bytes";
  }
}

} // namespace
} // namespace gradweave::test
