#include "base/process/signal_guard.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gradweave {
namespace {

constexpr int kGraceMilliseconds = 400;

sigset_t interrupt_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM})
    sigaddset(&set, signal);
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP); // nohup has it ignored, and so it stays
  return set;
}

int opened(int fd, const char *what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return fd;
}

bool readable(int fd, int milliseconds) {
  pollfd polled{fd, POLLIN, 0};
  return ::poll(&polled, 1, milliseconds) > 0;
}

/// By a system call alone: the thread that works may hold the lock of stderr.
void tell(const std::string &message) {
  const std::string line = fmt::format("{}gradweave: error: {}\n", ::isatty(STDERR_FILENO) ? "\r\033[K" : "", message);
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return; // who could be told?
}

} // namespace

Interrupted::Interrupted(int signal)
    : std::runtime_error(fmt::format("interrupted ({})", ::strsignal(signal))), signal_(signal) {}

SignalGuard::SignalGuard(std::function<void()> clean_up) : clean_up_(std::move(clean_up)) { begin(); }

void SignalGuard::begin() {
  const sigset_t set = interrupt_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr); // before the thread, which inherits it, as all later ones do
  signals_ = opened(::signalfd(-1, &set, SFD_CLOEXEC), "signalfd");
  fd_ = opened(::eventfd(0, EFD_CLOEXEC), "eventfd");
  stop_ = opened(::eventfd(0, EFD_CLOEXEC), "eventfd");
  thread_ = std::thread([this] { watch(); });
}

SignalGuard::~SignalGuard() {
  if (signals_ < 0) return;
  ::eventfd_write(stop_, 1);
  thread_.join();
  close_files();
  const sigset_t set = interrupt_signals();
  const timespec no_time{};
  while (arrived_ != 0 && ::sigtimedwait(&set, nullptr, &no_time) > 0) { // those behind it are heeded with it
  }
  unblock();
}

void SignalGuard::close_files() {
  for (const int fd : {signals_, fd_, stop_})
    ::close(fd);
}

void SignalGuard::unblock() {
  const sigset_t set = interrupt_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void SignalGuard::continue_after_fork() {
  thread_.detach(); // it is the parent's, and so are the files
  close_files();
  begin();
}

void SignalGuard::watch() {
  std::array<pollfd, 2> polled{{{stop_, POLLIN, 0}, {signals_, POLLIN, 0}}};
  while (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
  }
  signalfd_siginfo info{};
  if (polled[0].revents != 0 || ::read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return;
  const int signal = static_cast<int>(info.ssi_signo);
  arrived_ = signal;
  ::eventfd_write(fd_, info.ssi_signo);
  if (readable(stop_, kGraceMilliseconds)) return;
  if (clean_up_) clean_up_();
  tell(Interrupted(signal).what());
  ::_exit(exit_code_of(signal)); // children of the process die with it
}

int SignalGuard::take() const {
  if (arrived_ == 0 && signals_ < 0 && readable(fd_, 0)) {
    std::uint64_t number = 0;
    if (::read(fd_, &number, sizeof number) == static_cast<ssize_t>(sizeof number)) arrived_ = static_cast<int>(number);
  }
  return arrived_;
}

void SignalGuard::check() const {
  if (const int signal = take(); signal != 0) throw Interrupted(signal);
}

} // namespace gradweave
