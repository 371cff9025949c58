#include "base/process/heartbeat.hpp"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gradweave {
namespace {

constexpr int kBeatMilliseconds = 200;

} // namespace

Heartbeat::Heartbeat(const SignalGuard &signals, ProgressDisplay &display,
                     std::function<void(const Interrupted &)> interrupted)
    : display_(display), interrupted_(std::move(interrupted)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (stop_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::thread([this, fd = signals.fd()] { beat(fd); });
}

Heartbeat::~Heartbeat() {
  ::eventfd_write(stop_, 1);
  thread_.join();
  ::close(stop_);
}

void Heartbeat::beat(int signals) {
  while (true) {
    std::array<pollfd, 2> wanted{{{stop_, POLLIN, 0}, {signals, POLLIN, 0}}};
    if (::poll(wanted.data(), wanted.size(), kBeatMilliseconds) < 0 && errno != EINTR) return;
    if (wanted[0].revents != 0) return;
    const std::lock_guard<std::mutex> guard(mutex_);
    if (wanted[1].revents != 0) {
      signalfd_siginfo info{};
      if (::read(signals, &info, sizeof info) == sizeof info) {
        display_.clear();
        interrupted_(Interrupted(static_cast<int>(info.ssi_signo)));
      }
    }
    display_.tick();
  }
}

} // namespace gradweave
