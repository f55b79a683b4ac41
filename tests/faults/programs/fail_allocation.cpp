// Preloaded: refuses one allocation of libweft, the one whose number a program names. Allocations of C++'s library count as libweft's: the
// programs that use this are in C, and so are PETSc and MPI.
#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_memalign(size_t, size_t);
}

namespace {

long countdown = 0; // 0: refuse none

// Smaller ones are not refused: Kokkos makes labels where it may not throw.
constexpr std::size_t smallest = 256;

bool is_refused(const void *caller, std::size_t size)
{
  Dl_info from;
  if (countdown <= 0 || size < smallest || !dladdr(caller, &from) || !from.dli_fname) return false;
  if (!std::strstr(from.dli_fname, "libweft") && !std::strstr(from.dli_fname, "libstdc++")) return false;
  return --countdown == 0;
}

void *checked(void *memory)
{
  if (!memory) throw std::bad_alloc();
  return memory;
}

} // namespace

extern "C" {

/// Refuses the allocation of this number from now on, counted from 1. Returns how many were left to the last one asked for: 0 says that it
/// was refused.
long weft_fail_allocation(long number)
{
  const long left = countdown;
  countdown       = number;
  return left;
}

void *malloc(size_t size)
{
  if (is_refused(__builtin_return_address(0), size)) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
  *memory = is_refused(__builtin_return_address(0), size) ? nullptr : __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return is_refused(__builtin_return_address(0), size) ? nullptr : __libc_memalign(alignment, size);
}
}

void *operator new(std::size_t size)
{
  return checked(is_refused(__builtin_return_address(0), size) ? nullptr : __libc_malloc(size));
}

void *operator new(std::size_t size, std::align_val_t alignment)
{
  return checked(is_refused(__builtin_return_address(0), size) ? nullptr : __libc_memalign(static_cast<std::size_t>(alignment), size));
}
