// Any bytes as the mask of a grid, whose sizes are the first three: a mask with an inner node, or a reason.
#include <cstdlib>

#include "pc/adi/mask.cxx"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  if (size < 3) return 0;
  weft::AdiBox box;
  for (int k = 0; k < 3; k++) box.global[k] = 1 + data[k] % 12;
  std::vector<std::uint8_t> mask;
  const std::string why = weft::mask_of(std::string(data + 3, data + size), box, &mask);
  if (!why.empty()) return 0;
  bool inner = false;
  for (const std::uint8_t node : mask) {
    if (node > 1) std::abort();
    inner = inner || node;
  }
  if (!inner || mask.size() != static_cast<std::size_t>(box.global[0] * box.global[1] * box.global[2])) std::abort();
  return 0;
}
