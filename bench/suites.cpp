#include "request.hpp"

#include <initializer_list>
#include <stdexcept>

#include "line/line_solver.hpp"

namespace weft::bench {

std::string MethodSpec::text() const
{
  std::string text = name;
  const auto add   = [&](const char *parameter, Index value) {
    if (value != 0) text += std::string(",") + parameter + '=' + std::to_string(value);
  };
  add("switch_rows", parameters.switch_rows);
  add("steps", parameters.steps);
  add("partitions", parameters.partitions);
  add("slice", parameters.slice);
  return text;
}

LineProblem Request::lines() const
{
  const Index origin[3] = {0, 0, 0}, x_lines[3] = {size.rows, size.lines, 1}, y_lines[3] = {size.lines, size.rows, 1};
  LineProblem problem(contiguous ? lines_of_box(0, x_lines, block, origin) : lines_of_box(1, y_lines, block, origin));
  problem.coefficients = coefficients;
  if (coefficients == Coefficients::constant) problem.closure = 1;
  return problem;
}

std::string Request::coefficients_text() const
{
  if (block > 1) return "blocks-of-" + std::to_string(block);
  if (coefficients == Coefficients::shared) return "shared";
  if (coefficients == Coefficients::constant) return "constant";
  if (values == Values::uniform) return "uniform";
  if (values == Values::type_5) return "type-5";
  if (values == Values::type_12) return "type-12";
  return values == Values::poisson ? "poisson" : "general";
}

namespace {

const std::vector<Operation> both{Operation::one_shot, Operation::solve};

/// Sizes of the performance table.
std::vector<Size> main_sizes(Memory memory)
{
  if (memory == Memory::host) return {{256, 256}, {1024, 1024}, {4096, 256}, {1, 1 << 20}};
  return {{65536, 256}, {16384, 1024}, {8192, 2048}, {4096, 4096}, {1024, 16384}, {64, 262144}};
}

/// What a user would call instead. cuSPARSE keeps no factors.
void add_rivals(Request &request, Memory memory)
{
  if (memory == Memory::host) {
    request.one_shot_rivals = {"lapack:gtsv"};
    request.solve_rivals    = {"lapack:gttrs"};
  } else if (request.size.lines == 1) {
    request.one_shot_rivals = {"cusparse:gtsv2_nopivot", "cusparse:gtsv2"};
  } else {
    request.one_shot_rivals = {request.contiguous ? "cusparse:gtsv2StridedBatch" : "cusparse:gtsvInterleavedBatch"};
  }
}

std::vector<Request> main_suite(Memory memory)
{
  const bool device = memory == Memory::device;
  std::vector<Request> requests;
  const auto add = [&](Request request) {
    add_rivals(request, memory);
    requests.push_back(std::move(request));
  };
  const auto named = [](std::initializer_list<const char *> names) { return std::vector<MethodSpec>(names.begin(), names.end()); };
  for (const bool contiguous : {true, false}) {
    for (const Size &size : main_sizes(memory)) {
      if (size.lines == 1 && !contiguous) continue;
      Request request{size, contiguous};
      if (contiguous) request.precisions = {"fp64", "fp32"};
      request.operations = both;
      request.methods    = device ? named({"auto", "wide"}) : named({"auto", "thomas"});
      add(request);
    }
  }
  const Size square = device ? Size{4096, 4096} : Size{1024, 1024};
  if (device) {
    Request one{{1, Index(1) << 26}};
    one.operations = both;
    one.methods    = named({"auto", "wide", "tpr", "spike"});
    add(one);
  }
  for (const bool contiguous : {true, false}) {
    Request constant{square, contiguous, Coefficients::constant, Values::pade};
    constant.operations = both;
    constant.methods    = named({"auto", "toeplitz", "wide"});
    add(constant);
    Request shared{square, contiguous, Coefficients::shared};
    shared.operations = both;
    shared.methods    = named({"auto", "wide"});
    add(shared);
    Request pivoted{square, contiguous, Coefficients::general, Values::uniform};
    pivoted.operations = both;
    pivoted.methods    = named({"pivoted"});
    add_rivals(pivoted, memory);
    if (device && !contiguous) pivoted.one_shot_rivals = {"cusparse:gtsvInterleavedBatch-lu", "cusparse:gtsvInterleavedBatch-qr"};
    requests.push_back(pivoted);
  }
  for (const bool contiguous : {true, false}) { // no library has these
    Request blocks{{1024, 1024}, contiguous};
    blocks.block      = 4;
    blocks.operations = both;
    blocks.methods    = named({"auto", "block-thomas", "block-wide"});
    requests.push_back(blocks);
  }
  return requests;
}

/// The tables of the ADI thesis: 16 systems (CUDA) and 1 system (OpenCL).
std::vector<Request> adi_suite(Memory memory)
{
  std::vector<Request> requests;
  const std::vector<MethodSpec> all{{"thomas"}, {"cr"}, {"pcr"}, {"cr-pcr"}, {"pcr-thomas"}, {"cr-pcr-thomas"}, {"spike"}, {"auto"}};
  const auto add = [&](Request request) {
    add_rivals(request, memory);
    requests.push_back(std::move(request));
  };
  for (const Index lines : {16, 1}) {
    for (Index rows = 32; rows <= 2048; rows *= 2) {
      Request request{{lines, rows}};
      request.methods = all;
      if (lines == 16)
        for (const int partitions : {4, 16}) request.methods.push_back({"spike", {.partitions = partitions}});
      if (lines == 16 && rows == 2048) {
        for (Index switch_rows = 8; switch_rows <= 1024; switch_rows *= 2)
          request.methods.push_back({"cr-pcr", {.switch_rows = switch_rows}});
        for (int steps = 1; steps <= 10; steps++) request.methods.push_back({"pcr-thomas", {.steps = steps}});
        for (int slice = 2; slice <= 256; slice *= 2) request.methods.push_back({"cr-pcr-thomas", {.slice = slice}});
      }
      add(request);
    }
  }
  for (const Index rows : {Index(1) << 15, Index(1) << 22}) {
    Request request{{16, rows}};
    request.methods = {{"cr"}, {"spike"}, {"auto"}};
    if (memory == Memory::device || rows < 1 << 20) add(request);
  }
  return requests;
}

/// The grid of the tree partitioning paper, and the two of its matrices that its merge fails on.
std::vector<Request> tpr_suite(Memory memory)
{
  std::vector<Request> requests;
  for (const Index lines : {1, 8, 64}) {
    for (Index rows = 1 << 7; rows <= 1 << 19; rows *= 2) {
      if (memory == Memory::host && lines * rows > 1 << 20) continue;
      Request request{{lines, rows}};
      request.values     = Values::poisson;
      request.precisions = {"fp32", "fp64"};
      request.methods    = {{"tpr"}, {"auto"}, {"wide"}};
      if (lines == 1) request.methods.push_back({"tpr", {.slice = 512}}); // exact on this matrix to 2^19 rows: one level above the slices
      if (memory == Memory::host) request.methods.push_back({"thomas"});
      add_rivals(request, memory);
      requests.push_back(request);
    }
  }
  for (const Values values : {Values::type_5, Values::type_12}) {
    Request request{{64, 512}};
    request.values  = values;
    request.methods = {{"tpr"}, {"wide"}, {"thomas"}, {"pivoted"}};
    add_rivals(request, memory);
    requests.push_back(request);
  }
  return requests;
}

/// Table 4.1 of the near-Toeplitz thesis.
std::vector<Request> toeplitz_suite(Memory memory)
{
  std::vector<Request> requests;
  for (const Size &size : std::initializer_list<Size>{{32, 32},
                                                      {64, 64},
                                                      {128, 128},
                                                      {256, 256},
                                                      {512, 512},
                                                      {1024, 1024},
                                                      {2048, 2048},
                                                      {1024, 32},
                                                      {4096, 64},
                                                      {16384, 128},
                                                      {65536, 256},
                                                      {262144, 512}}) {
    if (memory == Memory::host && size.lines * size.rows > 1 << 22) continue;
    Request request{size, true, Coefficients::constant, Values::pade};
    request.operations = both;
    request.methods    = {{"toeplitz"}, {"auto"}};
    add_rivals(request, memory);
    requests.push_back(request);
  }
  // What the thesis leaves out: lines across memory, long ones, odd lengths, single precision.
  const bool device = memory == Memory::device;
  const Size cube   = device ? Size{262144, 512} : Size{4096, 256};
  const auto add    = [&](const Size &size, bool contiguous, const char *precision) {
    Request request{size, contiguous, Coefficients::constant, Values::pade};
    request.operations = {Operation::solve};
    request.precisions = {precision};
    request.methods    = {{"toeplitz"}};
    requests.push_back(request);
  };
  add(cube, false, "fp64");
  add(cube, false, "fp32");
  add(cube, true, "fp32");
  for (const Index rows : {4096, 4097, 8191, 16384, 16383}) add({device ? 8192 : 64, rows}, true, "fp64");
  add({device ? 4096 : 64, 4096}, false, "fp64");
  return requests;
}

/// The one-dimensional tables of the thesis on cyclic reduction: one system of 2^21 to 2^26 rows.
std::vector<Request> cyclic_suite(Memory memory)
{
  std::vector<Request> requests;
  for (Index rows = 1 << 21; rows <= 1 << 26; rows *= 2) {
    Request request{{1, rows}};
    request.precisions = {"fp32", "fp64"};
    request.methods    = {{"auto"}, {"cr"}, {"wide"}};
    if (memory == Memory::host) request.methods.push_back({"thomas"});
    add_rivals(request, memory);
    requests.push_back(request);
  }
  return requests;
}

/// Every method on the main sizes.
std::vector<Request> methods_suite(Memory memory)
{
  std::vector<Request> requests;
  for (const bool contiguous : {true, false}) {
    for (const Size &size : main_sizes(memory)) {
      if (size.lines == 1 && !contiguous) continue;
      Request request{size, contiguous};
      request.operations = both;
      request.methods    = {{"wide"}}; // what the others are measured by, so it must be there or said to be missing
      for (const char *name : tridiagonal_method_names())
        if (std::string(name) != "wide") request.methods.push_back({name});
      add_rivals(request, memory);
      requests.push_back(request);
    }
  }
  return requests;
}

/// Lines that kernels with a native form take, at sizes for which it has kernels of its own: scripts/native_pairs.py.
std::vector<Request> native_suite(Memory memory)
{
  const bool device = memory == Memory::device;
  std::vector<Request> requests;
  const auto add = [&](Request request, const char *method, std::vector<Operation> operations = both) {
    request.methods    = {{method}};
    request.operations = std::move(operations);
    requests.push_back(std::move(request));
  };
  using Sizes                = std::vector<Size>;
  const Sizes of_a_block     = device ? Sizes{{65536, 256}, {4096, 4096}} : Sizes{{64, 256}, {16, 1024}};
  const Sizes of_many_blocks = device ? Sizes{{1024, 16384}, {64, 262144}} : Sizes{{4, 16384}};
  const Size pages_blocks    = device ? Size{1024, 1024} : Size{16, 256};
  for (const bool contiguous : {true, false}) {
    for (const Size &size : main_sizes(memory)) {
      if (contiguous || size.lines > 1) add({size, contiguous}, "wide");
    }
    for (const Sizes &sizes : {of_a_block, of_many_blocks}) {
      for (const Size &size : sizes) {
        add({size, contiguous, Coefficients::shared}, "wide");
        add({size, contiguous, Coefficients::constant, Values::pade}, "toeplitz", {Operation::solve});
      }
    }
    for (const Size &size : of_a_block) add({size, contiguous, Coefficients::general, Values::uniform}, "pivoted");
    for (const Size &size : {of_a_block[0], of_a_block[1], pages_blocks}) {
      Request blocks{size, contiguous};
      blocks.block = 4;
      add(blocks, "block-wide", {Operation::one_shot});
    }
  }
  return requests;
}

} // namespace

std::vector<Request> suite(const std::string &name, Memory memory)
{
  if (name == "main") return main_suite(memory);
  if (name == "methods") return methods_suite(memory);
  if (name == "adi") return adi_suite(memory);
  if (name == "tpr") return tpr_suite(memory);
  if (name == "toeplitz") return toeplitz_suite(memory);
  if (name == "cyclic") return cyclic_suite(memory);
  if (name == "native") return native_suite(memory);
  throw std::invalid_argument("no suite is called '" + name + "'");
}

} // namespace weft::bench
