// What a process has begun to write under temporary names, so that one that has to end at once can remove it.
#pragma once

#include <filesystem>
#include <mutex>

namespace gradweave {

/// Files and directories, with all in them, that are not what somebody asked for yet. While an object of this class
/// lives, no other one does, and remove_all() waits: whoever makes or renames what is unfinished has one around that,
/// so that the process does not end between.
class Unfinished {
public:
  Unfinished();

  void add(const std::filesystem::path &path);
  /// It is finished, or was removed.
  void forget(const std::filesystem::path &path);
  /// Removes everything that was added and not forgotten. Whoever asks for an object from then on waits until the
  /// process ends.
  static void remove_all() noexcept;

private:
  std::unique_lock<std::mutex> lock_;
};

} // namespace gradweave
