#include "base/process/command.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace gradweave {
namespace {

constexpr int kNotFound = 127;

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;
  void close_write() {
    ::close(ends[1]);
    ends[1] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

[[noreturn]] void become(const std::vector<std::string> &words, int out, int err) {
  std::vector<char *> argv;
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execvp(argv.front(), argv.data());
  ::_exit(kNotFound);
}

/// Both to their ends, whichever has something.
void read_both(const Pipe &out, const Pipe &err, CommandEnd &end) {
  std::array<pollfd, 2> polled{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
  const std::array<std::string *, 2> texts{&end.output, &end.errors};
  std::array<char, 4096> buffer{};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "poll");
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled.at(i).fd < 0 || polled.at(i).revents == 0) continue;
      const ssize_t n = ::read(polled.at(i).fd, buffer.data(), buffer.size());
      if (n > 0) texts.at(i)->append(buffer.data(), static_cast<std::size_t>(n));
      if (n == 0 || (n < 0 && errno != EINTR)) polled.at(i).fd = -1;
    }
  }
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

CommandEnd run_command(const std::vector<std::string> &words) {
  Pipe out, err;
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) become(words, out.ends[1], err.ends[1]);
  out.close_write();
  err.close_write();
  CommandEnd end;
  read_both(out, err, end);
  end.code = wait_for(pid);
  return end;
}

int run_visibly(const std::vector<std::string> &words) {
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    become(words, STDERR_FILENO, STDERR_FILENO);
  }
  return wait_for(pid);
}

} // namespace gradweave
