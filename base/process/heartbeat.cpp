#include "base/process/heartbeat.hpp"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
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
  thread_ = std::thread([this, &signals] { beat(signals); });
}

Heartbeat::~Heartbeat() {
  ::eventfd_write(stop_, 1);
  thread_.join();
  ::close(stop_);
}

void Heartbeat::beat(const SignalGuard &signals) {
  while (true) {
    std::array<pollfd, 2> wanted{{{stop_, POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    if (::poll(wanted.data(), wanted.size(), kBeatMilliseconds) < 0 && errno != EINTR) return;
    if (wanted[0].revents != 0) return;
    const std::lock_guard<std::mutex> guard(mutex_);
    if (const int signal = signals.take(); signal != 0) {
      display_.clear();
      interrupted_(Interrupted(signal));
    }
    display_.tick();
  }
}

} // namespace gradweave
