// What gradweave serve prints.
#pragma once

#include "runtime/run/served_run.hpp"

#include <cstdio>
#include <string>

namespace gradweave::runtime {

/// The table of networks with the percentiles of their latencies, utilisation, waiting, checks, and the verdict.
void print_served(std::FILE *out, const ServeRequest &request, const ServeRun &run, const std::string &reproduce);

} // namespace gradweave::runtime
