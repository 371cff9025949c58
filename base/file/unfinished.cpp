#include "base/file/unfinished.hpp"

#include <pthread.h>
#include <set>
#include <system_error>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

struct Registry {
  /// A process that is forked while another thread holds the mutex would wait for ever.
  Registry() {
    ::pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); }, [] { get().mutex.unlock(); });
  }
  /// Never destroyed: outputs of static objects use it to the end.
  static Registry &get() {
    static auto *registry = new Registry;
    return *registry;
  }

  std::mutex mutex;
  std::set<fs::path> paths; ///< absolute
};

} // namespace

Unfinished::Unfinished() : lock_(Registry::get().mutex) {}

void Unfinished::add(const fs::path &path) { Registry::get().paths.insert(fs::absolute(path)); }

void Unfinished::forget(const fs::path &path) { Registry::get().paths.erase(fs::absolute(path)); }

void Unfinished::remove_all() noexcept {
  constexpr int kAttempts = 100; // another thread may go on writing into a directory
  Registry &registry = Registry::get();
  registry.mutex.lock();
  std::error_code ignored;
  for (const fs::path &path : registry.paths)
    for (int i = 0; i < kAttempts && fs::exists(fs::symlink_status(path, ignored)); ++i)
      fs::remove_all(path, ignored);
}

} // namespace gradweave
