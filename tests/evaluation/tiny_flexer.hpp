// An evaluation of Flexer of test size.
#pragma once

namespace gradweave::test {

/// A network and two machines that take no time.
inline constexpr const char *kTinyFlexer = R"(paper = "flexer"
title = "Tiny"
[settings]
plans = 10
cloud = 10
[[network]]
name = "VGG-16"
model = "./tiny.toml"
[[machine]]
name = "arch1"
npu = "test8c2"
[[machine]]
name = "arch5"
npu = "test8c4"
[[machine]]
name = "arch6"
npu = "test8c4"
[[published]]
figure = "9a"
key = "speedup"
text = "a layer"
unit = "x"
value = 2.17
)";
inline constexpr const char *kTinyFlexerNetwork = R"(batch = 1
[[layer]]
name = "conv3_1"
conv = { height = 8, width = 8, channels = 16, out_channels = 16, kernel = 3, padding = 1 }
[[layer]]
name = "conv4_2"
conv = { height = 8, width = 8, channels = 16, out_channels = 32, kernel = 3, padding = 1 }
)";

} // namespace gradweave::test
