/// Wider vectors where the processor has them, in a library that runs on any of its kind.
#pragma once

// A compiler that targets AVX2 anyway needs no second version; other architectures have one width.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__)
#define WEFT_TWO_WIDTHS 1
#else
#define WEFT_TWO_WIDTHS 0
#endif

namespace weft {

#if WEFT_TWO_WIDTHS
/// body() with all that it calls compiled once more. Without fused multiply-adds, so that results are the same on every processor.
template <class Body>
[[gnu::target("avx2"), gnu::flatten]] void with_avx2(const Body &body)
{
  body();
}
#endif

/// Calls body(), compiled for the widest vectors of the processor that it runs on. What it calls must be inlined to gain from that; a
/// function that is called rarely is better marked [[gnu::noinline]].
template <class Body>
void with_widest_vectors(const Body &body)
{
#if WEFT_TWO_WIDTHS
  if (__builtin_cpu_supports("avx2")) return with_avx2(body);
#endif
  body();
}

} // namespace weft
