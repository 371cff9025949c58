#include "base/process/process_pool.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace gradweave {
namespace {

constexpr std::size_t kOutputKept = 8192;
constexpr int kTickMilliseconds = 200;

/// Messages of a child: a type, the length of the payload, the payload.
enum MessageType : char { kProgress = 'P', kResult = 'R' };
struct MessageHeader {
  char type = kProgress;
  std::uint64_t bytes = 0;
};

[[noreturn]] void fail(const char *what) { throw std::system_error(errno, std::generic_category(), what); }

double seconds(const timeval &time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void write_all(int fd, const void *data, std::size_t bytes) {
  const auto *at = static_cast<const char *>(data);
  while (bytes != 0) {
    const ssize_t written = ::write(fd, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1); // the parent is gone
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void send(int fd, MessageType type, const void *payload, std::size_t bytes) {
  MessageHeader header;
  header.type = type;
  header.bytes = bytes;
  write_all(fd, &header, sizeof header);
  write_all(fd, payload, bytes);
}

[[noreturn]] void child_main(const Task &task, int messages, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A Ctrl-C reaches the whole process group; the parent decides what happens.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  SignalGuard::unblock();
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  int status = 1;
  try {
    const std::string result =
        task([messages](double fraction) { send(messages, kProgress, &fraction, sizeof fraction); });
    send(messages, kResult, result.data(), result.size());
    status = 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  std::fflush(nullptr);
  ::_exit(status); // static destructors belong to the parent
}

class Child {
public:
  Child(std::size_t index, const Task &task) : task_(index) {
    std::array<int, 2> messages{};
    std::array<int, 2> output{};
    if (::pipe2(messages.data(), O_CLOEXEC) != 0 || ::pipe2(output.data(), O_CLOEXEC) != 0) fail("pipe");
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) fail("fork");
    if (pid_ == 0) child_main(task, messages[1], output[1]);
    ::close(messages[1]);
    ::close(output[1]);
    messages_ = messages[0];
    output_ = output[0];
  }
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;
  ~Child() {
    if (messages_ >= 0) ::close(messages_);
    if (output_ >= 0) ::close(output_);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  std::size_t task() const { return task_; }
  int messages() const { return messages_; }
  int output() const { return output_; }

  void read_messages(const PoolEvents &events) {
    if (!read_some(messages_, received_)) return;
    MessageHeader header;
    while (received_.size() >= sizeof header) {
      std::memcpy(&header, received_.data(), sizeof header);
      if (received_.size() - sizeof header < header.bytes) return;
      const std::string payload = received_.substr(sizeof header, header.bytes);
      received_.erase(0, sizeof header + header.bytes);
      if (header.type == kResult) {
        end_.completed = true;
        end_.result = payload;
      } else if (events.progress) {
        double fraction = 0;
        std::memcpy(&fraction, payload.data(), sizeof fraction);
        events.progress(task_, fraction);
      }
    }
  }

  void read_output() {
    read_some(output_, end_.output);
    if (end_.output.size() > kOutputKept) end_.output.erase(0, end_.output.size() - kOutputKept);
  }

  /// Both pipes are at their ends: the process is gone or about to go.
  bool finished() const { return messages_ < 0 && output_ < 0; }

  TaskEnd reap() {
    int status = 0;
    rusage used{};
    while (::wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    end_.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    if (WIFSIGNALED(status)) {
      end_.completed = false;
      end_.signal = WTERMSIG(status);
      end_.problem = fmt::format("the simulation process was killed by signal {} ({})", WTERMSIG(status),
                                 ::strsignal(WTERMSIG(status)));
    } else if (!end_.completed) {
      end_.problem = fmt::format("the simulation process ended with exit code {}", WEXITSTATUS(status));
    }
    return end_;
  }

private:
  /// Appends what can be read to `text`; false, and the descriptor closed, at the end of the pipe.
  static bool read_some(int &fd, std::string &text) {
    std::array<char, 65536> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
    const ssize_t bytes = ::read(fd, buffer.data(), buffer.size());
    if (bytes > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(bytes));
      return true;
    }
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    ::close(fd);
    fd = -1;
    return false;
  }

  std::size_t task_;
  pid_t pid_ = 0;
  int messages_ = -1, output_ = -1;
  std::string received_;
  TaskEnd end_;
};

} // namespace

void run_tasks(const std::vector<Task> &tasks, const std::vector<std::size_t> &order, unsigned jobs,
               const SignalGuard &signals, const PoolEvents &events) {
  std::list<Child> children; // its destructor kills what still runs, whatever the reason for leaving
  std::size_t next = 0;
  while (next < order.size() || !children.empty()) {
    while (next < order.size() && children.size() < jobs) {
      if (events.starting) events.starting(order[next]);
      children.emplace_back(order[next], tasks[order[next]]);
      ++next;
    }

    std::vector<pollfd> polled{{signals.fd(), POLLIN, 0}};
    for (const Child &child : children) {
      polled.push_back({child.messages(), POLLIN, 0}); // poll() skips descriptors below 0
      polled.push_back({child.output(), POLLIN, 0});
    }
    if (::poll(polled.data(), polled.size(), kTickMilliseconds) < 0 && errno != EINTR) fail("poll");
    signals.check();

    std::size_t at = 1;
    for (auto child = children.begin(); child != children.end(); at += 2) {
      if (polled[at].revents != 0) child->read_messages(events);
      if (polled[at + 1].revents != 0) child->read_output();
      if (!child->finished()) {
        ++child;
        continue;
      }
      const std::size_t index = child->task();
      const TaskEnd end = child->reap();
      child = children.erase(child);
      if (!events.ended(index, end)) return;
    }
    if (events.tick) events.tick();
  }
}

} // namespace gradweave
