// consumer NETWORK NPU: the cycles of a network's backward pass, as `gradweave simulate` has them.
#include <cstdio>
#include <gradweave/compiler/compiler.hpp>
#include <gradweave/graph/frontend/load_network.hpp>
#include <gradweave/runtime/run/lookup.hpp>

int main(int, char **argv) {
  using namespace gradweave;
  const Machine npu = load_machine(runtime::find_npu(argv[2]));
  compiler::CompileOptions options; // the backward pass, schedule rearrange
  unsigned long long cycles = 0;
  for (const compiler::Layer &layer : compiler::load_network(runtime::find_model(argv[1])).layers)
    cycles += compiler::compile({layer}, npu, options).predicted_cycles;
  std::printf("%llu\n", cycles);
}
