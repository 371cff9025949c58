#include "trace/wave/guard.hpp"

#include "sw_models/config/npu_config.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace gradweave::wave {
namespace {

// First byte of what the child sends; a child that sends nothing did not end as it should.
enum Outcome : char { kReturned = 'r', kConfigError = 'c', kInvalidArgument = 'i', kOtherError = 'o' };

std::string run_child(const std::function<int()> &work) {
  try {
    return std::string(1, kReturned) + static_cast<char>(work());
  } catch (const ConfigError &error) {
    return std::string(1, kConfigError) + error.what();
  } catch (const std::invalid_argument &error) {
    return std::string(1, kInvalidArgument) + error.what();
  } catch (const std::exception &error) {
    return std::string(1, kOtherError) + error.what();
  }
}

void send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = write(fd, text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string receive_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

} // namespace

int run_guarded(const std::string &files, const std::function<int()> &work) {
  std::fflush(nullptr);
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    close(pipe_ends[0]);
    const std::string outcome = run_child(work);
    std::fflush(nullptr);
    send_all(pipe_ends[1], outcome);
    _exit(0);
  }
  close(pipe_ends[1]);
  const std::string outcome = receive_all(pipe_ends[0]);
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (outcome.empty())
    throw ConfigError(fmt::format("{}: the FST reader {} on these values; the file is damaged, record it again", files,
                                  WIFSIGNALED(status) ? "crashed" : "gave up"));
  const std::string rest = outcome.substr(1);
  switch (outcome.front()) {
  case kReturned:
    return static_cast<unsigned char>(rest.front());
  case kConfigError:
    throw ConfigError(rest);
  case kInvalidArgument:
    throw std::invalid_argument(rest);
  default:
    throw std::runtime_error(rest);
  }
}

} // namespace gradweave::wave
