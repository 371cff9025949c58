// What came of jobs woven on one NPU, for people.
#pragma once

#include "runtime/run/woven_run.hpp"

#include <cstdio>
#include <string>

namespace gradweave::cli {

/// The jobs, what they take together beside one by one, and how the run ended.
void print_woven(std::FILE *out, const runtime::WovenRequest &request, const runtime::WovenRun &run,
                 const std::string &reproduce);

} // namespace gradweave::cli
