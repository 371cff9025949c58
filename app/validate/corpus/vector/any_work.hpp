// Random work of a vector unit with no regard for data: tiles anywhere in the scratchpad.
#pragma once

#include "app/validate/corpus/vector/unit_writer.hpp"
#include "sw_models/config/npu_config.hpp"

namespace gradweave::corpus {

/// kTiny: an instruction or two on a line or two. kAny: groups of strips that are full and partial, loops of any steps;
/// it takes some thousand cycles at most.
enum class VectorSize { kTiny, kAny };

VectorWork draw_any_work(const UnitWriter &unit, const NpuConfig &npu, VectorSize size, Dice &dice);

/// Likewise, but the program or one of its tiles has a fault, the same whatever the program memory has had before.
VectorWork draw_faulty_work(const UnitWriter &unit, const NpuConfig &npu, Dice &dice);

} // namespace gradweave::corpus
