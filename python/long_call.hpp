// Calls that take long: without Python's lock, and with its signals.
#pragma once

#include "base/process/process_pool.hpp"

#include <functional>

namespace gradweave::python {

/// Runs `work`, which touches nothing of Python's, in a thread of its own, and returns when it has ended. Other threads
/// of Python run meanwhile. If a handler of a signal raises, as Ctrl-C does in the main thread, `work` is told to end
/// (SignalGuard::check()) and what the handler raised is raised; else what `work` threw is thrown.
void run_long(const std::function<void(const SignalGuard &)> &work);

} // namespace gradweave::python
