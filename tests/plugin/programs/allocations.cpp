// A tool for Kokkos (KOKKOS_TOOLS_LIBS) that counts the arrays that it allocates, on the host and on devices. Preloaded too, so that the program
// can ask for the count.
#include <atomic>
#include <cstdint>

namespace {

std::atomic<long> count{0};

}

extern "C" {

struct weft_space {
  char name[64];
};

void kokkosp_allocate_data(weft_space, const char *, const void *, std::uint64_t bytes)
{
  if (bytes > 0) count++; // Kokkos asks for team scratch of no bytes
}

long weft_allocations()
{
  return count;
}
}
