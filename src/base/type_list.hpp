/// Lists of types, such as those of methods: a std::tuple of them.
#pragma once
#include <tuple>
#include <type_traits>

namespace weft {

template <class Type, class List>
inline constexpr bool is_in = false;
template <class Type, class... Types>
inline constexpr bool is_in<Type, std::tuple<Types...>> = (std::is_same_v<Type, Types> || ...);

template <class List, class Others>
struct Difference;
template <class... Types, class Others>
struct Difference<std::tuple<Types...>, Others> {
  using type = decltype(std::tuple_cat(std::conditional_t<is_in<Types, Others>, std::tuple<>, std::tuple<Types>>{}...));
};
/// The types of a list that are not in another, in their order.
template <class List, class Others>
using Without = typename Difference<List, Others>::type;

/// Calls visit(Type{}) for each type of a list.
template <class List, class Visit>
void for_each_type(Visit &&visit)
{
  std::apply([&](auto... type) { (visit(type), ...); }, List{});
}

} // namespace weft
