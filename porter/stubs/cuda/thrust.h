// Thrust: vectors, pointers, iterators, algorithms.
#pragma once
#include "../std/streams.h"
#include "runtime.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::get;
using std::greater;
using std::greater_equal;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_not;
using std::logical_or;
using std::make_pair;
using std::make_tuple;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::not_equal_to;
using std::pair;
using std::plus;
using std::swap;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
using std::unary_function;
using std::binary_function;
template <class T> struct maximum { T operator()(const T &, const T &) const; };
template <class T> struct minimum { T operator()(const T &, const T &) const; };
template <class T> struct identity { const T &operator()(const T &) const; };
template <class T> struct square { T operator()(const T &) const; };
template <class T> struct project1st { T operator()(const T &, const T &) const; };
template <> struct maximum<void> { template <class T> T operator()(const T &, const T &) const; };
template <> struct minimum<void> { template <class T> T operator()(const T &, const T &) const; };

template <class T> struct device_ptr;
template <class T> struct device_reference {
  device_ptr<T> operator&() const;
  friend std::ostream &operator<<(std::ostream &, const device_reference &);
  operator T() const;
  device_reference &operator=(const T &);
  device_reference &operator+=(const T &);
  device_reference &operator++();
};
template <class T> struct device_ptr {
  typedef std::remove_cv_t<T> value_type;
  typedef ptrdiff_t difference_type;
  typedef device_ptr pointer;
  typedef device_reference<T> reference;
  typedef std::random_access_iterator_tag iterator_category;
  device_ptr();
  explicit device_ptr(T *);
  template <class U> device_ptr(const device_ptr<U> &);
  T *get() const;
  device_reference<T> operator*() const;
  device_reference<T> operator[](ptrdiff_t) const;
  device_ptr &operator++();
  device_ptr operator++(int);
  device_ptr &operator+=(ptrdiff_t);
  device_ptr operator+(ptrdiff_t) const;
  device_ptr operator-(ptrdiff_t) const;
  ptrdiff_t operator-(const device_ptr &) const;
  bool operator==(const device_ptr &) const;
  bool operator!=(const device_ptr &) const;
};
template <class T> device_ptr<T> device_pointer_cast(T *);
template <class T> device_ptr<T> device_malloc(size_t);
template <class T> void device_free(device_ptr<T>);
template <class T> T *raw_pointer_cast(device_ptr<T>);
template <class T> T *raw_pointer_cast(T *);
template <class T> T *raw_pointer_cast(std::porter_iterator<T>);
template <class T> T &raw_reference_cast(device_reference<T>);
template <class T> using device_allocator = std::allocator<T>;
#define PORTER_VECTOR(name, P, R)                                     \
  template <class T, class A = std::allocator<T>> class name : public std::porter_container<T, P, P> { \
   public:                                                            \
    typedef P pointer;                                                \
    name();                                                           \
    explicit name(size_t);                                            \
    name(size_t, const T &);                                          \
    name(std::initializer_list<T>);                                   \
    template <class U> name(const std::vector<U> &);                  \
    template <class V, class = typename V::value_type> name(const V &); \
    template <class I> name(I, I);                                    \
    template <class V> name &operator=(const V &);                    \
    R operator[](size_t);                                             \
    R operator[](size_t) const;                                       \
    R front();                                                        \
    R back();                                                         \
    P data();                                                         \
    P data() const;                                                   \
    void push_back(const T &);                                        \
    void pop_back();                                                  \
    void resize(size_t);                                              \
    void resize(size_t, const T &);                                   \
    void reserve(size_t);                                             \
    void shrink_to_fit();                                             \
    size_t capacity() const;                                          \
    template <class... B> void assign(B &&...);                       \
    template <class... B> P insert(B &&...);                          \
    template <class... B> P erase(B &&...);                           \
    void swap(name &);                                                \
  };
PORTER_VECTOR(device_vector, device_ptr<T>, device_reference<T>)
PORTER_VECTOR(host_vector, T *, T &)
PORTER_VECTOR(universal_vector, T *, T &)
#undef PORTER_VECTOR
template <class... A> struct zip_iterator : std::porter_iterator<std::tuple<A...>> { template <class T> zip_iterator(const T &); };
template <class T, class... A> struct counting_iterator : std::porter_iterator<T> { counting_iterator(); explicit counting_iterator(T); };
template <class T, class... A> struct constant_iterator : std::porter_iterator<T> { explicit constant_iterator(T); };
template <class F, class It, class... A> struct transform_iterator : std::porter_iterator<std::invoke_result_t<F, typename std::iterator_traits<It>::value_type>> { transform_iterator(It, F); };
template <class E, class I> struct permutation_iterator : std::porter_iterator<typename std::iterator_traits<E>::value_type> { permutation_iterator(E, I); };
template <class It> struct iterator_traits : std::iterator_traits<It> {};
template <class It> struct iterator_value { typedef typename std::iterator_traits<It>::value_type type; };
template <class It> struct iterator_difference { typedef ptrdiff_t type; };
template <class It> struct iterator_pointer { typedef typename std::iterator_traits<It>::pointer type; };
template <class It> struct iterator_reference { typedef typename std::iterator_traits<It>::reference type; };
template <class It> struct iterator_system { typedef int type; };
template <class It> struct porter_reverse : It { explicit porter_reverse(It); };
struct discard_iterator_value {};
template <class T = void> struct discard_iterator : std::porter_iterator<int> { discard_iterator(); };
template <class T> counting_iterator<T> make_counting_iterator(T);
template <class T> constant_iterator<T> make_constant_iterator(T);
template <class It, class F> transform_iterator<F, It> make_transform_iterator(It, F);
template <class... A> zip_iterator<A...> make_zip_iterator(const std::tuple<A...> &);
template <class... A> zip_iterator<A...> make_zip_iterator(A...);
template <class E, class I> permutation_iterator<E, I> make_permutation_iterator(E, I);
discard_iterator<> make_discard_iterator();
template <class It> It make_reverse_iterator(It);
template <class It> ptrdiff_t distance(It, It);
template <class It> void advance(It &, ptrdiff_t);

struct execution_policy_base { template <class A> execution_policy_base operator()(const A &) const; execution_policy_base on(cudaStream_t) const; };
extern const execution_policy_base host, device, seq;
namespace cuda { extern const execution_policy_base par, par_nosync; }
namespace omp { extern const execution_policy_base par; }
#define PORTER_ANY(name) template <class... A> void name(A &&...);
PORTER_ANY(sort) PORTER_ANY(stable_sort) PORTER_ANY(sort_by_key) PORTER_ANY(stable_sort_by_key) PORTER_ANY(fill) PORTER_ANY(sequence) PORTER_ANY(generate)
PORTER_ANY(tabulate) PORTER_ANY(replace) PORTER_ANY(replace_if) PORTER_ANY(reverse) PORTER_ANY(uninitialized_fill) PORTER_ANY(fill_n) PORTER_ANY(for_each)
PORTER_ANY(for_each_n) PORTER_ANY(generate_n) PORTER_ANY(shuffle) PORTER_ANY(scatter) PORTER_ANY(scatter_if) PORTER_ANY(gather) PORTER_ANY(gather_if)
#undef PORTER_ANY
namespace porter {
template <class T, class = void> struct is_policy : std::false_type {};
template <class T> struct is_policy<T, std::enable_if_t<__is_base_of(execution_policy_base, T)>> : std::true_type {};
template <bool policy, class... A> struct first_iterator;
template <class A, class... B> struct first_iterator<false, A, B...> { typedef A type; };
template <class P, class A, class... B> struct first_iterator<true, P, A, B...> { typedef A type; };
template <class P, class... A> using first = typename first_iterator<is_policy<P>::value, P, A...>::type;
template <class P, class... A> using value = typename std::iterator_traits<first<P, A...>>::value_type;
template <class... A> struct last;
template <class A> struct last<A> { typedef A type; };
template <class A, class... B> struct last<A, B...> : last<B...> {};
}
#define PORTER_ITERATOR(name) template <class P, class... A> porter::first<P, A...> name(P, A...);
PORTER_ITERATOR(copy) PORTER_ITERATOR(copy_if) PORTER_ITERATOR(copy_n) PORTER_ITERATOR(transform) PORTER_ITERATOR(transform_if) PORTER_ITERATOR(unique) PORTER_ITERATOR(remove_if)
PORTER_ITERATOR(remove) PORTER_ITERATOR(remove_copy_if) PORTER_ITERATOR(partition) PORTER_ITERATOR(stable_partition) PORTER_ITERATOR(inclusive_scan)
PORTER_ITERATOR(exclusive_scan) PORTER_ITERATOR(transform_inclusive_scan) PORTER_ITERATOR(transform_exclusive_scan) PORTER_ITERATOR(inclusive_scan_by_key)
PORTER_ITERATOR(exclusive_scan_by_key) PORTER_ITERATOR(adjacent_difference) PORTER_ITERATOR(min_element) PORTER_ITERATOR(max_element) PORTER_ITERATOR(find)
PORTER_ITERATOR(find_if) PORTER_ITERATOR(lower_bound) PORTER_ITERATOR(upper_bound) PORTER_ITERATOR(merge) PORTER_ITERATOR(set_intersection) PORTER_ITERATOR(set_union)
PORTER_ITERATOR(set_difference) PORTER_ITERATOR(swap_ranges) PORTER_ITERATOR(reverse_copy) PORTER_ITERATOR(unique_copy)
#undef PORTER_ITERATOR
template <class P, class... A> porter::value<P, A...> reduce(P, A...);
template <class P, class... A> double transform_reduce(P, A...);
template <class P, class... A> double inner_product(P, A...);
template <class P, class... A> ptrdiff_t count(P, A...);
template <class P, class... A> ptrdiff_t count_if(P, A...);
template <class P, class... A> bool all_of(P, A...);
template <class P, class... A> bool any_of(P, A...);
template <class P, class... A> bool none_of(P, A...);
template <class P, class... A> bool equal(P, A...);
template <class P, class... A> bool is_sorted(P, A...);
template <class P, class... A> std::pair<porter::first<P, A...>, porter::first<P, A...>> minmax_element(P, A...);
template <class P, class... A> std::pair<porter::first<P, A...>, porter::first<P, A...>> reduce_by_key(P, A...);
template <class P, class... A> std::pair<porter::first<P, A...>, porter::first<P, A...>> unique_by_key(P, A...);
template <class P, class... A> std::pair<porter::first<P, A...>, porter::first<P, A...>> unique_by_key_copy(P, A...);
template <class T> constexpr const T &max(const T &a, const T &b) { return a; }
template <class T> constexpr const T &min(const T &a, const T &b) { return a; }
namespace placeholders {
struct placeholder { template <class T> placeholder operator+(T) const; template <class T> placeholder operator*(T) const; template <class T> placeholder operator-(T) const; template <class T> placeholder operator<(T) const; template <class T> placeholder operator>(T) const; template <class T> placeholder operator==(T) const; template <class T> T operator()(T) const; };
extern const placeholder _1, _2, _3;
}
template <class T> class complex : public std::complex<T> {
 public:
  constexpr complex(T r = T(), T i = T()) : std::complex<T>(r, i) {}
  template <class U> constexpr complex(const std::complex<U> &o) : std::complex<T>(o.real(), o.imag()) {}
  using std::complex<T>::operator=;
};
#define PORTER_COMPLEX(op)                                                          \
  template <class T> complex<T> operator op(const complex<T> &, const complex<T> &); \
  template <class T> complex<T> operator op(const complex<T> &, const std::remove_cv_t<T> &); \
  template <class T> complex<T> operator op(const std::remove_cv_t<T> &, const complex<T> &);
PORTER_COMPLEX(+)
PORTER_COMPLEX(-)
PORTER_COMPLEX(*)
PORTER_COMPLEX(/)
#undef PORTER_COMPLEX
template <class T> T abs(const complex<T> &);
template <class T> T arg(const complex<T> &);
template <class T> T norm(const complex<T> &);
template <class T> complex<T> conj(const complex<T> &);
template <class T> complex<T> exp(const complex<T> &);
template <class T> complex<T> sqrt(const complex<T> &);
template <class T> complex<T> log(const complex<T> &);
template <class T> complex<T> polar(T, T = T());
template <class T, class U> complex<T> pow(const complex<T> &, const U &);
namespace random {
using std::uniform_int_distribution;
using std::uniform_real_distribution;
using std::normal_distribution;
typedef std::minstd_rand minstd_rand, default_random_engine, taus88;
}
using namespace random;
namespace system { struct error_code { const char *message() const; }; }
class system_error : public std::exception { public: template <class... A> system_error(A &&...); };
}  // namespace thrust
#pragma clang force_cuda_host_device end
