// <type_traits>, <limits>, <utility>, <tuple>, <functional>, <initializer_list>, <new>, <exception>, <typeinfo>.
#pragma once
#include "core.h"
#pragma clang force_cuda_host_device begin

namespace std {
using ::size_t;
using ::ptrdiff_t;
using ::nullptr_t;
using ::max_align_t;
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::intptr_t;
using ::uintptr_t;
using ::intmax_t;
using ::uintmax_t;
using ::int_fast32_t;
using ::uint_fast32_t;
enum class byte : unsigned char {};
enum class align_val_t : size_t {};

template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  typedef T value_type;
  typedef integral_constant type;
  constexpr operator T() const noexcept { return v; }
  constexpr T operator()() const noexcept { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

#define PORTER_TRAIT(name, ...)                             \
  template <class T> struct name : bool_constant<__VA_ARGS__> {}; \
  template <class T> inline constexpr bool name##_v = __VA_ARGS__;
PORTER_TRAIT(is_void, __is_void(T))
PORTER_TRAIT(is_integral, __is_integral(T))
PORTER_TRAIT(is_floating_point, __is_floating_point(T))
PORTER_TRAIT(is_array, __is_array(T))
PORTER_TRAIT(is_pointer, __is_pointer(T))
PORTER_TRAIT(is_reference, __is_reference(T))
PORTER_TRAIT(is_lvalue_reference, __is_lvalue_reference(T))
PORTER_TRAIT(is_rvalue_reference, __is_rvalue_reference(T))
PORTER_TRAIT(is_enum, __is_enum(T))
PORTER_TRAIT(is_union, __is_union(T))
PORTER_TRAIT(is_class, __is_class(T))
PORTER_TRAIT(is_function, __is_function(T))
PORTER_TRAIT(is_arithmetic, __is_arithmetic(T))
PORTER_TRAIT(is_fundamental, __is_fundamental(T))
PORTER_TRAIT(is_object, __is_object(T))
PORTER_TRAIT(is_scalar, __is_scalar(T))
PORTER_TRAIT(is_compound, __is_compound(T))
PORTER_TRAIT(is_const, __is_const(T))
PORTER_TRAIT(is_volatile, __is_volatile(T))
PORTER_TRAIT(is_trivial, __is_trivial(T))
PORTER_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
PORTER_TRAIT(is_trivially_destructible, __is_trivially_destructible(T))
PORTER_TRAIT(is_standard_layout, __is_standard_layout(T))
PORTER_TRAIT(is_pod, __is_pod(T))
PORTER_TRAIT(is_empty, __is_empty(T))
PORTER_TRAIT(is_polymorphic, __is_polymorphic(T))
PORTER_TRAIT(is_abstract, __is_abstract(T))
PORTER_TRAIT(is_final, __is_final(T))
PORTER_TRAIT(is_aggregate, __is_aggregate(T))
PORTER_TRAIT(is_signed, __is_signed(T))
PORTER_TRAIT(is_unsigned, __is_unsigned(T))
PORTER_TRAIT(is_default_constructible, __is_constructible(T))
PORTER_TRAIT(is_copy_constructible, __is_constructible(T, const T &))
PORTER_TRAIT(is_move_constructible, __is_constructible(T, T &&))
PORTER_TRAIT(is_trivially_default_constructible, __is_trivially_constructible(T))
PORTER_TRAIT(is_trivially_copy_constructible, __is_trivially_constructible(T, const T &))
PORTER_TRAIT(is_destructible, true)
PORTER_TRAIT(is_swappable, true)
PORTER_TRAIT(is_nothrow_swappable, true)
PORTER_TRAIT(is_nothrow_destructible, true)
PORTER_TRAIT(is_nothrow_copy_constructible, __is_nothrow_constructible(T, const T &))
PORTER_TRAIT(is_nothrow_move_constructible, __is_nothrow_constructible(T, T &&))
PORTER_TRAIT(is_nothrow_default_constructible, __is_nothrow_constructible(T))
PORTER_TRAIT(is_nothrow_copy_assignable, __is_nothrow_assignable(T &, const T &))
PORTER_TRAIT(is_nothrow_move_assignable, __is_nothrow_assignable(T &, T &&))
PORTER_TRAIT(is_copy_assignable, __is_assignable(T &, const T &))
PORTER_TRAIT(is_move_assignable, __is_assignable(T &, T &&))
PORTER_TRAIT(is_null_pointer, __is_same(T, decltype(nullptr)))
PORTER_TRAIT(is_member_pointer, __is_member_pointer(T))
#undef PORTER_TRAIT
#define PORTER_TRAIT(name, ...)                                         \
  template <class T, class U> struct name : bool_constant<__VA_ARGS__> {}; \
  template <class T, class U> inline constexpr bool name##_v = __VA_ARGS__;
PORTER_TRAIT(is_same, __is_same(T, U))
PORTER_TRAIT(is_base_of, __is_base_of(T, U))
PORTER_TRAIT(is_convertible, __is_convertible_to(T, U))
PORTER_TRAIT(is_assignable, __is_assignable(T, U))
#undef PORTER_TRAIT
template <class T, class... A> struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class T, class... A> inline constexpr bool is_constructible_v = __is_constructible(T, A...);

#define PORTER_TRANSFORM(name, ...)                          \
  template <class T> struct name { typedef __VA_ARGS__ type; }; \
  template <class T> using name##_t = __VA_ARGS__;
PORTER_TRANSFORM(remove_const, __remove_const(T))
PORTER_TRANSFORM(remove_volatile, __remove_volatile(T))
PORTER_TRANSFORM(remove_cv, __remove_cv(T))
PORTER_TRANSFORM(remove_reference, __remove_reference_t(T))
PORTER_TRANSFORM(remove_cvref, __remove_cvref(T))
PORTER_TRANSFORM(remove_pointer, __remove_pointer(T))
PORTER_TRANSFORM(remove_extent, __remove_extent(T))
PORTER_TRANSFORM(remove_all_extents, __remove_all_extents(T))
PORTER_TRANSFORM(add_pointer, __add_pointer(T))
PORTER_TRANSFORM(add_lvalue_reference, __add_lvalue_reference(T))
PORTER_TRANSFORM(add_rvalue_reference, __add_rvalue_reference(T))
PORTER_TRANSFORM(make_signed, __make_signed(T))
PORTER_TRANSFORM(make_unsigned, __make_unsigned(T))
PORTER_TRANSFORM(decay, __decay(T))
PORTER_TRANSFORM(underlying_type, __underlying_type(T))
PORTER_TRANSFORM(add_const, const T)
PORTER_TRANSFORM(add_volatile, volatile T)
PORTER_TRANSFORM(add_cv, const volatile T)
PORTER_TRANSFORM(type_identity, T)
#undef PORTER_TRANSFORM
template <bool, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool b, class A, class B> using conditional_t = typename conditional<b, A, B>::type;
template <class...> using void_t = void;
template <class... T> struct conjunction : bool_constant<(bool(T::value) && ...)> {};
template <class... T> struct disjunction : bool_constant<(bool(T::value) || ...)> {};
template <class T> struct negation : bool_constant<!bool(T::value)> {};
template <class... T> inline constexpr bool conjunction_v = conjunction<T...>::value;
template <class... T> inline constexpr bool disjunction_v = disjunction<T...>::value;
template <class T> inline constexpr bool negation_v = negation<T>::value;
template <class T> add_rvalue_reference_t<T> declval() noexcept;
template <class... T> struct common_type;
template <class T> struct common_type<T> { typedef decay_t<T> type; };
template <class A, class B> struct common_type<A, B> {
  typedef decay_t<decltype(true ? declval<A>() : declval<B>())> type;
};
template <class A, class B, class... C>
struct common_type<A, B, C...> : common_type<typename common_type<A, B>::type, C...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;
template <class F, class... A> struct invoke_result { typedef decltype(declval<F>()(declval<A>()...)) type; };
template <class F, class... A> using invoke_result_t = typename invoke_result<F, A...>::type;
template <class F> struct result_of;
template <class F, class... A> struct result_of<F(A...)> : invoke_result<F, A...> {};
template <class F> using result_of_t = typename result_of<F>::type;
template <class F, class... A> struct is_invocable : true_type {};
template <class F, class... A> inline constexpr bool is_invocable_v = true;
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <size_t size, size_t align = 16> struct aligned_storage {
  struct type { alignas(align) unsigned char data[size]; };
};
template <size_t size, size_t align = 16> using aligned_storage_t = typename aligned_storage<size, align>::type;
template <class T> struct rank : integral_constant<size_t, __array_rank(T)> {};
template <class T, unsigned i = 0> struct extent : integral_constant<size_t, __array_extent(T, i)> {};
constexpr bool is_constant_evaluated() noexcept { return false; }

template <class T> class initializer_list {
  const T *first;
  size_t count;

 public:
  typedef T value_type;
  typedef const T &reference;
  typedef const T *iterator;
  typedef const T *const_iterator;
  typedef size_t size_type;
  constexpr initializer_list() noexcept : first(nullptr), count(0) {}
  constexpr size_t size() const noexcept { return count; }
  constexpr const T *begin() const noexcept { return first; }
  constexpr const T *end() const noexcept { return first + count; }
};

template <class T> struct porter_limits {
  static constexpr bool is_specialized = __is_arithmetic(T);
  static constexpr bool is_signed = __is_signed(T), is_integer = __is_integral(T), is_exact = __is_integral(T);
  static constexpr bool has_infinity = __is_floating_point(T), has_quiet_NaN = has_infinity;
  static constexpr bool is_iec559 = has_infinity;
  static constexpr int digits = sizeof(T) * 8 - is_signed, digits10 = digits * 3 / 10, max_digits10 = 17;
  static constexpr int radix = 2, max_exponent = 128, min_exponent = -125, max_exponent10 = 38;
  static constexpr T round_error() noexcept { return T(); }
  static constexpr T signaling_NaN() noexcept { return T(); }
  static constexpr T denorm_min() noexcept { return T(); }
};
template <class T> struct numeric_limits : porter_limits<T> {
  static constexpr T max() noexcept { return T(); }
  static constexpr T min() noexcept { return T(); }
  static constexpr T lowest() noexcept { return T(); }
  static constexpr T epsilon() noexcept { return T(); }
  static constexpr T infinity() noexcept { return T(); }
  static constexpr T quiet_NaN() noexcept { return T(); }
};
#define PORTER_LIMITS(T, largest, smallest, least, eps, inf, nan) \
  template <> struct numeric_limits<T> : porter_limits<T> {       \
    static constexpr T max() noexcept { return largest; }         \
    static constexpr T min() noexcept { return smallest; }        \
    static constexpr T lowest() noexcept { return least; }        \
    static constexpr T epsilon() noexcept { return eps; }         \
    static constexpr T infinity() noexcept { return inf; }        \
    static constexpr T quiet_NaN() noexcept { return nan; }       \
  };
#define PORTER_INTEGER(T, name) PORTER_LIMITS(T, name##_MAX, name##_MIN, name##_MIN, 0, 0, 0)
PORTER_INTEGER(char, CHAR)
PORTER_INTEGER(signed char, SCHAR)
PORTER_INTEGER(short, SHRT)
PORTER_INTEGER(int, INT)
PORTER_INTEGER(long, LONG)
PORTER_INTEGER(long long, LLONG)
PORTER_LIMITS(bool, true, false, false, 0, 0, 0)
PORTER_LIMITS(unsigned char, UCHAR_MAX, 0, 0, 0, 0, 0)
PORTER_LIMITS(unsigned short, USHRT_MAX, 0, 0, 0, 0, 0)
PORTER_LIMITS(unsigned int, UINT_MAX, 0, 0, 0, 0, 0)
PORTER_LIMITS(unsigned long, ULONG_MAX, 0, 0, 0, 0, 0)
PORTER_LIMITS(unsigned long long, ULLONG_MAX, 0, 0, 0, 0, 0)
PORTER_LIMITS(float, FLT_MAX, FLT_MIN, -FLT_MAX, FLT_EPSILON, __builtin_inff(), __builtin_nanf(""))
PORTER_LIMITS(double, DBL_MAX, DBL_MIN, -DBL_MAX, DBL_EPSILON, __builtin_inf(), __builtin_nan(""))
#undef PORTER_INTEGER
#undef PORTER_LIMITS

template <class T> constexpr remove_reference_t<T> &&move(T &&value) noexcept {
  return static_cast<remove_reference_t<T> &&>(value);
}
template <class T> constexpr T &&forward(remove_reference_t<T> &value) noexcept { return static_cast<T &&>(value); }
template <class T> constexpr T &&forward(remove_reference_t<T> &&value) noexcept { return static_cast<T &&>(value); }
template <class T> constexpr const T &as_const(T &value) noexcept { return value; }
template <class T> T &&move_if_noexcept(T &) noexcept;
template <class T> void swap(T &, T &) noexcept;
template <class T, size_t n> void swap(T (&)[n], T (&)[n]) noexcept;
template <class T, class U = T> T exchange(T &, U &&);
struct in_place_t {};
inline constexpr in_place_t in_place{};
struct piecewise_construct_t {};
inline constexpr piecewise_construct_t piecewise_construct{};

template <class A, class B> struct pair {
  typedef A first_type;
  typedef B second_type;
  A first;
  B second;
  constexpr pair() : first(), second() {}
  constexpr pair(const A &a, const B &b) : first(a), second(b) {}
  template <class C, class D> constexpr pair(C &&a, D &&b) : first(static_cast<C &&>(a)), second(static_cast<D &&>(b)) {}
  template <class C, class D> constexpr pair(const pair<C, D> &other) : first(other.first), second(other.second) {}
  void swap(pair &);
};
template <class A, class B> constexpr pair<decay_t<A>, decay_t<B>> make_pair(A &&a, B &&b);
template <class A, class B> constexpr bool operator==(const pair<A, B> &, const pair<A, B> &);
template <class A, class B> constexpr bool operator!=(const pair<A, B> &, const pair<A, B> &);
template <class A, class B> constexpr bool operator<(const pair<A, B> &, const pair<A, B> &);
template <class A, class B> constexpr bool operator>(const pair<A, B> &, const pair<A, B> &);
template <class A, class B> constexpr bool operator<=(const pair<A, B> &, const pair<A, B> &);
template <class A, class B> constexpr bool operator>=(const pair<A, B> &, const pair<A, B> &);

template <class T, T... v> struct integer_sequence {
  typedef T value_type;
  static constexpr size_t size() noexcept { return sizeof...(v); }
};
template <size_t... v> using index_sequence = integer_sequence<size_t, v...>;
template <class T, T n> using make_integer_sequence = __make_integer_seq<integer_sequence, T, n>;
template <size_t n> using make_index_sequence = make_integer_sequence<size_t, n>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

template <class... T> struct tuple {
  constexpr tuple() {}
  template <class... U> constexpr tuple(U &&...) {}
  template <class... U> tuple &operator=(const tuple<U...> &);
  template <class A, class B> tuple &operator=(const pair<A, B> &);
};
template <class... T> tuple(T...) -> tuple<T...>;
template <class T> struct tuple_size;
template <class... T> struct tuple_size<tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <class A, class B> struct tuple_size<pair<A, B>> : integral_constant<size_t, 2> {};
template <class T> inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t i, class T> struct tuple_element;
template <size_t i, class... T> struct tuple_element<i, tuple<T...>> { typedef __type_pack_element<i, T...> type; };
template <size_t i, class A, class B> struct tuple_element<i, pair<A, B>> { typedef __type_pack_element<i, A, B> type; };
template <size_t i, class T> using tuple_element_t = typename tuple_element<i, T>::type;
template <size_t i, class... T> constexpr tuple_element_t<i, tuple<T...>> &get(tuple<T...> &) noexcept;
template <size_t i, class... T> constexpr tuple_element_t<i, tuple<T...>> &&get(tuple<T...> &&) noexcept;
template <size_t i, class... T> constexpr const tuple_element_t<i, tuple<T...>> &get(const tuple<T...> &) noexcept;
template <size_t i, class A, class B> constexpr tuple_element_t<i, pair<A, B>> &get(pair<A, B> &) noexcept;
template <size_t i, class A, class B> constexpr const tuple_element_t<i, pair<A, B>> &get(const pair<A, B> &) noexcept;
template <class U, class... T> constexpr U &get(tuple<T...> &) noexcept;
template <class... T> constexpr tuple<decay_t<T>...> make_tuple(T &&...);
template <class... T> constexpr tuple<T &...> tie(T &...) noexcept;
template <class... T> constexpr tuple<T &&...> forward_as_tuple(T &&...) noexcept;
template <class... T> tuple<T...> tuple_cat(T &&...);
template <class F, class T> void apply(F &&, T &&);
struct porter_ignore { template <class T> void operator=(T &&) const {} };
inline constexpr porter_ignore ignore{};

#pragma clang force_cuda_host_device end
class exception {
 public:
  exception() noexcept;
  exception(const exception &) noexcept;
  virtual ~exception();
  virtual const char *what() const noexcept;
};
class bad_alloc : public exception {};
class bad_cast : public exception {};
#pragma clang force_cuda_host_device begin
typedef void *exception_ptr;
exception_ptr current_exception() noexcept;
void rethrow_exception(exception_ptr);
void terminate() noexcept;
int uncaught_exceptions() noexcept;
class type_info {
 public:
  const char *name() const noexcept;
  size_t hash_code() const noexcept;
  bool operator==(const type_info &) const noexcept;
  bool operator!=(const type_info &) const noexcept;
};
struct nothrow_t {};
extern const nothrow_t nothrow;
template <class T> constexpr T *addressof(T &) noexcept;
template <class T> constexpr T *launder(T *) noexcept;

#define PORTER_OPERATION(name, R, op)                                              \
  template <class T = void> struct name {                                          \
    typedef R result_type;                                                         \
    typedef T first_argument_type, second_argument_type;                           \
    constexpr R operator()(const T &, const T &) const;                            \
  };                                                                               \
  template <> struct name<void> {                                                  \
    template <class A, class B> constexpr auto operator()(A &&a, B &&b) const { return a op b; } \
  };
PORTER_OPERATION(plus, T, +)
PORTER_OPERATION(minus, T, -)
PORTER_OPERATION(multiplies, T, *)
PORTER_OPERATION(divides, T, /)
PORTER_OPERATION(modulus, T, %)
PORTER_OPERATION(bit_and, T, &)
PORTER_OPERATION(bit_or, T, |)
PORTER_OPERATION(bit_xor, T, ^)
PORTER_OPERATION(equal_to, bool, ==)
PORTER_OPERATION(not_equal_to, bool, !=)
PORTER_OPERATION(less, bool, <)
PORTER_OPERATION(greater, bool, >)
PORTER_OPERATION(less_equal, bool, <=)
PORTER_OPERATION(greater_equal, bool, >=)
PORTER_OPERATION(logical_and, bool, &&)
PORTER_OPERATION(logical_or, bool, ||)
#undef PORTER_OPERATION
template <class T = void> struct negate { constexpr T operator()(const T &) const; };
template <class T = void> struct logical_not { constexpr bool operator()(const T &) const; };
template <class A, class R> struct unary_function { typedef A argument_type; typedef R result_type; };
template <class A, class B, class R> struct binary_function {
  typedef A first_argument_type;
  typedef B second_argument_type;
  typedef R result_type;
};
template <class T> struct hash { size_t operator()(const T &) const noexcept; };
template <class F> class function;
template <class R, class... A> class function<R(A...)> {
 public:
  typedef R result_type;
  function() noexcept;
  function(nullptr_t) noexcept;
  template <class F> function(F);
  template <class F> function &operator=(F &&);
  R operator()(A...) const;
  explicit operator bool() const noexcept;
};
struct porter_bound { template <class... A> double operator()(A &&...) const; };
template <class F, class... A> porter_bound bind(F &&, A &&...);
namespace placeholders { extern const int _1, _2, _3, _4; }
template <class T> struct reference_wrapper {
  typedef T type;
  reference_wrapper(T &);
  operator T &() const noexcept;
  T &get() const noexcept;
};
template <class T> reference_wrapper<T> ref(T &) noexcept;
template <class T> reference_wrapper<const T> cref(const T &) noexcept;
template <class F, class... A> invoke_result_t<F, A...> invoke(F &&, A &&...);
}  // namespace std

void *operator new(size_t, void *) noexcept;
void *operator new[](size_t, void *) noexcept;
void *operator new(size_t, const std::nothrow_t &) noexcept;
void *operator new[](size_t, const std::nothrow_t &) noexcept;
#pragma clang force_cuda_host_device end
