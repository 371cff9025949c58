// node runtime.js RESULT.json FILE DIMENSION...: runs an ONNX file of one input by onnxruntime, an executor that shares
// nothing with this project. With RESULT.json absent, writes input0.bin beside it (seeded numbers from -1 to 1, doubles);
// else compares the first output with what onnx_forward wrote there.
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

async function main() {
  const [result, file, ...dims] = process.argv.slice(2);
  const folder = path.dirname(result);
  const shape = dims.map(Number);
  const input = path.join(folder, 'input0.bin');
  if (!fs.existsSync(result)) {
    const values = new Float64Array(shape.reduce((a, b) => a * b, 1));
    let state = 12345;
    for (let i = 0; i < values.length; i++) {
      state = (1103515245 * state + 12345) % 2147483648;
      values[i] = Math.fround(state / 1073741824 - 1);
    }
    fs.writeFileSync(input, Buffer.from(values.buffer));
    return;
  }
  const doubles = (name) => {
    const bytes = fs.readFileSync(name);
    return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  };
  const session = await ort.InferenceSession.create(file);
  const tensor = new ort.Tensor('float32', Float32Array.from(doubles(input)), shape);
  const wanted = (await session.run({ [session.inputNames[0]]: tensor }))[session.outputNames[0]];
  const ours = JSON.parse(fs.readFileSync(result)).outputs[0];
  const got = doubles(path.join(folder, ours.file));
  let largest = 0;
  let error = 0;
  for (let i = 0; i < got.length; i++) {
    largest = Math.max(largest, Math.abs(wanted.data[i]));
    error = Math.max(error, Math.abs(wanted.data[i] - got[i]));
  }
  // onnxruntime computes in fp32, in an order of its own: errors of many layers add up.
  const good = JSON.stringify(ours.dims) === JSON.stringify(wanted.dims) && error <= 1e-3 * largest;
  console.log(`${good ? 'pass' : 'FAIL'} ${path.basename(file)}: [${ours.dims}], within ${(error / largest).toExponential(1)} of the largest`);
  process.exitCode = good ? 0 : 1;
}

main();
