#!/bin/bash
# `make sanitize`: software models, compiler and runtime (all C++ that links no SystemC) under ASan and UBSan.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh sanitize
# clang: g++ takes four times as long for the tests, which are not optimised.
quietly "configuring $build/sanitize" cmake -S . -B "$build/sanitize" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 \
  -DCMAKE_C_COMPILER=clang-19 -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" \
  -DGW_SANITIZE=ON -DGW_RTL=OFF "-DGW_WERROR=${WERROR:-OFF}"
quietly "building with sanitizers" ninja -C "$build/sanitize"
# Everything but what takes minutes under sanitizers, or interrupts a run in time, and has its plain run in `make test`.
slow="EveryNpu|BertTiny|Examples|KeptStreams|SeveralCores|BoundsOn|IdealOn|BigMatrices|CliInterrupt|CliResume|GoesOnAfter"
slow+="|OnNetworks|AreNearTheBound|OtherSeeds|MorePlans|EveryChanged|TinyScratchpad"
slow+="|ScheduleIsGolden/[348]|LayersOfImages|OfALayer[^/]*/(list|search)|Step.RandomChains|Woven.StepsAreGolden|HaveTheSameResult|OfTheThesis|OfAllPolicies|AndTuningGain|AnyNumberOf|OfBothNpus"
# Searches allocate much: to walk the stack for each allocation, and to keep 256 MB of freed memory, is a third of the time.
# For a report with more frames of where memory came from: ASAN_OPTIONS=malloc_context_size=30 make sanitize
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=16}
ctest --test-dir "$build/sanitize" -LE long -E "$slow" -j "${JOBS:-$(nproc)}" \
  --output-on-failure --progress
