// Which semaphores the sections of a step take.
#pragma once

#include "compiler/emit/hazards.hpp"
#include "compiler/epilogue/epilogue.hpp"
#include "compiler/strips/job_sections.hpp"

#include <cstdint>

namespace gradweave::runtime::train {

/// Of sections of jobs behind those of products, which epilogues take, too; of strips and of groups of items behind
/// both.
inline compiler::SectionSemaphores section_semaphores(const NpuConfig &npu) {
  const std::uint32_t products = compiler::semaphores_used(npu.cores);
  return {static_cast<std::uint8_t>(products), static_cast<std::uint8_t>(products + compiler::kEpilogueSemaphores)};
}

} // namespace gradweave::runtime::train
