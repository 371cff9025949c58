// What the smaller programs of the command consist of.
#pragma once

#include "app/cli/program/program.hpp"

namespace gradweave::cli {

ProgramParts layers_parts();
/// With those of layers.
ProgramParts training_parts();

} // namespace gradweave::cli
