// Areas that overlap although they are of different jobs.
#pragma once

#include "compiler/vector_stream/stage/area.hpp"

namespace gradweave::compiler {

/// Makes layouts that follow one another one, where all areas have their tiles at the same rows and none loads what one
/// before stores: images one after the other, or packs of rows. Then operands are loaded while results of the area
/// before in the place are still stored, and what the place holds already is not loaded again.
void join_layouts(AreaPlan &plan);

} // namespace gradweave::compiler
