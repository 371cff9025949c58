// A study of test size: two networks of two layers, NPUs with an array of 8 x 8.
#pragma once

#include "base/database/database.hpp"
#include "tests/cli/command_line.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace gradweave::test {

class TinyStudyTest : public CommandLineTest {
protected:
  TinyStudyTest() { write_study(24); }

  /// Two networks whose layers have about `size` as K and N.
  void write_study(int size) const {
    for (const char *name : {"a", "b"}) {
      const int side = size + (name[0] == 'a' ? 0 : 8);
      write(fmt::format("{}.toml", name),
            fmt::format("batch = 2\nsequence = 8\n"
                        "layer = [ {{ name = \"fc1\", k = {}, n = 16 }}, {{ name = \"fc2\", k = 16, n = {} }} ]\n",
                        side, side));
    }
    write("tiny.toml",
          "title = \"Tiny\"\n[settings]\nsmall_npu = \"test8\"\nlarge_npus = [\"test8\", \"test8c2\"]\n"
          "small_batch = 1\nlarge_batch = 2\nbatches = [2, 4]\nbandwidths = [1, 0.5]\nparts = [2]\nplans = 20\n"
          "[search]\nplans = 5\nstep_plans = 5\nsmall_paper = 40\nlarge_paper = 20\nsmall_conventional = 7\n"
          "large_conventional = 14\nabove_bound = 5\n"
          "[[network]]\nname = \"a\"\nsmall = \"a.toml\"\nlarge = \"a.toml\"\n"
          "[[network]]\nname = \"b\"\nsmall = \"b.toml\"\nlarge = \"b.toml\"\n"
          "[[published]]\nfigure = \"12\"\nkey = \"small.rearrange\"\ntext = \"Rearranged\"\nunit = \"%\"\n"
          "value = 23.8\n");
  }

  std::vector<std::string> command(const std::vector<std::string> &more) const {
    std::vector<std::string> all{"reproduce", "./tiny.toml", "--out", "out"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string output(const std::string &name) const { return read_file(work() / "out" / name); }
  /// How many results are kept.
  std::size_t kept() const {
    Database file(work() / "out/evaluations.db", DatabaseAccess::kRead);
    Statement count(file, "SELECT count(*) FROM evaluations");
    return count.step() ? static_cast<std::size_t>(count.integer(0)) : 0;
  }
};

} // namespace gradweave::test
