// Runs the gradweave command as a user would, in a directory of its own.
#pragma once

#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace gradweave::test {

/// A network of three small layers, as a file.
inline const std::string kLayers = "name,M,K,N\na,20,30,40\nb,33,17,50\nc,64,48,16\n";

struct CommandResult {
  int code = -1;
  std::string out, err;
};

inline std::string read_file(const std::filesystem::path &file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A fresh directory for each test, removed afterwards.
class CommandLineTest : public ::testing::Test {
protected:
  CommandLineTest() {
    std::filesystem::create_directory(directory_ / "work");
    ::setenv("XDG_STATE_HOME", (directory_ / "state").c_str(), 1); // records of runs stay out of the user's own
    ::setenv("GRADWEAVE_PLAN_CACHE", "off", 1);                    // and so do plans
  }

  std::filesystem::path work() const { return directory_ / "work"; }

  /// Writes a file for the command to read; its name relative to the working directory of the command.
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(work() / name, std::ios::binary) << text;
    return name;
  }

  /// Starts the command, or a copy of it; its output goes to files outside its working directory.
  pid_t start(const std::vector<std::string> &arguments, const std::filesystem::path &out = {},
              const std::string &program = GW_COMMAND) const {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    std::filesystem::current_path(work());
    if (std::freopen((out.empty() ? directory_ / "out" : out).c_str(), "w", stdout) == nullptr ||
        std::freopen((directory_ / "err").c_str(), "w", stderr) == nullptr)
      ::_exit(126);
    std::vector<char *> argv{const_cast<char *>(program.c_str())};
    for (const std::string &argument : arguments)
      argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }

  CommandResult finish(pid_t pid) const {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_file(directory_ / "out"),
            read_file(directory_ / "err")};
  }

  /// Standard output goes to `out`, if one is given.
  CommandResult run(const std::vector<std::string> &arguments, const std::filesystem::path &out = {}) const {
    return finish(start(arguments, out));
  }

  /// Runs the command so that no file it writes can have more than `bytes`, as on a disk that is full.
  CommandResult run_limited(rlim_t bytes, const std::vector<std::string> &arguments) const {
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limited{bytes, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
    const pid_t pid = start(arguments, "/dev/null");
    ::setrlimit(RLIMIT_FSIZE, &before);
    return finish(pid);
  }

  /// Files in the command's working directory.
  std::vector<std::string> files() const { return files(work()); }
  static std::vector<std::string> files(const std::filesystem::path &directory) {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(directory))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

private:
  const ScratchDirectory scratch_;
  const std::filesystem::path directory_ = scratch_.path();
};

} // namespace gradweave::test
