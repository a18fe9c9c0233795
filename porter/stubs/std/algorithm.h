// <algorithm>, <numeric>, <random>, <chrono>, <complex>.
#pragma once
#include "containers.h"
#include "math.h"
#pragma clang force_cuda_host_device begin

namespace std {
template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T, class F> constexpr const T &min(const T &a, const T &b, F) { return a; }
template <class T, class F> constexpr const T &max(const T &a, const T &b, F) { return a; }
template <class T> constexpr T min(initializer_list<T> v) { return *v.begin(); }
template <class T> constexpr T max(initializer_list<T> v) { return *v.begin(); }
template <class T> pair<const T &, const T &> minmax(const T &, const T &);
template <class T> constexpr const T &clamp(const T &v, const T &low, const T &high) { return v; }
template <class T> T gcd(T, T);
template <class T> T lcm(T, T);

#define PORTER_RETURNS_VOID(name) template <class... A> void name(A &&...);
PORTER_RETURNS_VOID(sort)
PORTER_RETURNS_VOID(stable_sort)
PORTER_RETURNS_VOID(partial_sort)
PORTER_RETURNS_VOID(nth_element)
PORTER_RETURNS_VOID(reverse)
PORTER_RETURNS_VOID(replace)
PORTER_RETURNS_VOID(replace_if)
PORTER_RETURNS_VOID(shuffle)
PORTER_RETURNS_VOID(random_shuffle)
PORTER_RETURNS_VOID(iota)
PORTER_RETURNS_VOID(make_heap)
PORTER_RETURNS_VOID(push_heap)
PORTER_RETURNS_VOID(pop_heap)
PORTER_RETURNS_VOID(sort_heap)
PORTER_RETURNS_VOID(iter_swap)
#undef PORTER_RETURNS_VOID
template <class It, class T> void fill(It, It, const T &);
template <class It, class F> void generate(It, It, F);
template <class It, class F> F for_each(It, It, F);
#define PORTER_RETURNS_BOOL(name) template <class... A> bool name(A &&...);
PORTER_RETURNS_BOOL(is_sorted)
PORTER_RETURNS_BOOL(all_of)
PORTER_RETURNS_BOOL(any_of)
PORTER_RETURNS_BOOL(none_of)
PORTER_RETURNS_BOOL(equal)
PORTER_RETURNS_BOOL(binary_search)
PORTER_RETURNS_BOOL(includes)
PORTER_RETURNS_BOOL(is_permutation)
PORTER_RETURNS_BOOL(next_permutation)
PORTER_RETURNS_BOOL(prev_permutation)
PORTER_RETURNS_BOOL(lexicographical_compare)
#undef PORTER_RETURNS_BOOL
#define PORTER_RETURNS_FIRST(name) template <class It, class... A> It name(It, A &&...);
PORTER_RETURNS_FIRST(find)
PORTER_RETURNS_FIRST(find_if)
PORTER_RETURNS_FIRST(find_if_not)
PORTER_RETURNS_FIRST(find_first_of)
PORTER_RETURNS_FIRST(search)
PORTER_RETURNS_FIRST(lower_bound)
PORTER_RETURNS_FIRST(upper_bound)
PORTER_RETURNS_FIRST(min_element)
PORTER_RETURNS_FIRST(max_element)
PORTER_RETURNS_FIRST(unique)
PORTER_RETURNS_FIRST(remove)
PORTER_RETURNS_FIRST(remove_if)
PORTER_RETURNS_FIRST(partition)
PORTER_RETURNS_FIRST(stable_partition)
PORTER_RETURNS_FIRST(rotate)
PORTER_RETURNS_FIRST(fill_n)
PORTER_RETURNS_FIRST(generate_n)
PORTER_RETURNS_FIRST(adjacent_find)
#undef PORTER_RETURNS_FIRST
#define PORTER_RETURNS_OUTPUT(name) template <class It, class Out, class... A> Out name(It, It, Out, A &&...);
PORTER_RETURNS_OUTPUT(copy)
PORTER_RETURNS_OUTPUT(copy_if)
PORTER_RETURNS_OUTPUT(copy_backward)
PORTER_RETURNS_OUTPUT(reverse_copy)
PORTER_RETURNS_OUTPUT(unique_copy)
PORTER_RETURNS_OUTPUT(partial_sum)
PORTER_RETURNS_OUTPUT(adjacent_difference)
PORTER_RETURNS_OUTPUT(exclusive_scan)
PORTER_RETURNS_OUTPUT(inclusive_scan)
PORTER_RETURNS_OUTPUT(set_union)
PORTER_RETURNS_OUTPUT(set_intersection)
PORTER_RETURNS_OUTPUT(set_difference)
PORTER_RETURNS_OUTPUT(merge)
#undef PORTER_RETURNS_OUTPUT
template <class It, class Out, class F> Out transform(It, It, Out, F);
template <class It, class It2, class Out, class F> Out transform(It, It, It2, Out, F);
template <class It, class N, class Out> Out copy_n(It, N, Out);
template <class It, class Out> Out move(It, It, Out);
template <class It, class T> ptrdiff_t count(It, It, const T &);
template <class It, class F> ptrdiff_t count_if(It, It, F);
template <class It> pair<It, It> minmax_element(It, It);
template <class It, class T> pair<It, It> equal_range(It, It, const T &);
template <class It, class... A> pair<It, It> mismatch(It, It, A &&...);
template <class It, class It2> It2 swap_ranges(It, It, It2);
template <class It, class T> T accumulate(It, It, T);
template <class It, class T, class F> T accumulate(It, It, T, F);
template <class It, class T> T reduce(It, It, T);
template <class It> typename iterator_traits<It>::value_type reduce(It, It);
template <class It, class It2, class T, class... A> T inner_product(It, It, It2, T, A &&...);
template <class It, class T, class... A> T transform_reduce(It, It, T, A &&...);
namespace execution {
struct policy {};
inline constexpr policy seq{}, par{}, par_unseq{};
}

#define PORTER_ENGINE(name, R)                       \
  class name {                                       \
   public:                                           \
    typedef R result_type;                           \
    static constexpr R default_seed = 5489;          \
    name();                                          \
    template <class S> explicit name(S &&);          \
    template <class S> void seed(S &&);              \
    void seed();                                     \
    R operator()();                                  \
    void discard(unsigned long long);                \
    static constexpr R min() { return 0; }           \
    static constexpr R max() { return -1; }          \
  };
PORTER_ENGINE(mt19937, unsigned long)
PORTER_ENGINE(mt19937_64, unsigned long)
PORTER_ENGINE(minstd_rand, unsigned long)
PORTER_ENGINE(minstd_rand0, unsigned long)
PORTER_ENGINE(ranlux48, unsigned long)
PORTER_ENGINE(knuth_b, unsigned long)
PORTER_ENGINE(random_device, unsigned int)
typedef minstd_rand0 default_random_engine;
#undef PORTER_ENGINE
class seed_seq { public: template <class... A> seed_seq(A &&...); };
#define PORTER_DISTRIBUTION(name, D)                     \
  template <class T = D> class name {                    \
   public:                                               \
    typedef T result_type;                               \
    struct param_type { template <class... A> param_type(A &&...); }; \
    name();                                              \
    template <class... A> explicit name(double, A &&...);\
    template <class G> T operator()(G &);                \
    template <class G> T operator()(G &, const param_type &); \
    void reset();                                        \
    T min() const;                                       \
    T max() const;                                       \
  };
PORTER_DISTRIBUTION(uniform_int_distribution, int)
PORTER_DISTRIBUTION(uniform_real_distribution, double)
PORTER_DISTRIBUTION(normal_distribution, double)
PORTER_DISTRIBUTION(lognormal_distribution, double)
PORTER_DISTRIBUTION(exponential_distribution, double)
PORTER_DISTRIBUTION(gamma_distribution, double)
PORTER_DISTRIBUTION(poisson_distribution, int)
PORTER_DISTRIBUTION(binomial_distribution, int)
PORTER_DISTRIBUTION(geometric_distribution, int)
PORTER_DISTRIBUTION(student_t_distribution, double)
#undef PORTER_DISTRIBUTION
class bernoulli_distribution { public: explicit bernoulli_distribution(double = 0.5); template <class G> bool operator()(G &); };
template <class T = int> class discrete_distribution { public: template <class... A> discrete_distribution(A &&...); template <class G> T operator()(G &); };
template <class T, size_t bits, class G> T generate_canonical(G &);

template <long n, long d = 1> struct ratio { static constexpr long num = n, den = d; };
typedef ratio<1, 1000000000> nano;
typedef ratio<1, 1000000> micro;
typedef ratio<1, 1000> milli;
typedef ratio<1000> kilo;
typedef ratio<1000000> mega;
typedef ratio<1000000000> giga;
namespace chrono {
template <class R, class P = ratio<1>> class duration {
 public:
  typedef R rep;
  typedef P period;
  constexpr duration() {}
  template <class T, class = enable_if_t<is_arithmetic_v<T>>> constexpr explicit duration(T) {}
  template <class R2, class P2> constexpr duration(const duration<R2, P2> &) {}
  constexpr R count() const { return R(); }
  template <class D> duration &operator+=(const D &);
  template <class D> duration &operator-=(const D &);
  duration operator-() const;
  static constexpr duration zero() { return duration(); }
  static constexpr duration max() { return duration(); }
};
template <class R, class P, class R2, class P2>
constexpr duration<common_type_t<R, R2>, P> operator+(const duration<R, P> &, const duration<R2, P2> &);
template <class R, class P, class R2, class P2>
constexpr duration<common_type_t<R, R2>, P> operator-(const duration<R, P> &, const duration<R2, P2> &);
template <class R, class P, class T> constexpr duration<common_type_t<R, T>, P> operator*(const duration<R, P> &, T);
template <class R, class P, class T, class = enable_if_t<is_arithmetic_v<T>>>
constexpr duration<common_type_t<R, T>, P> operator/(const duration<R, P> &, T);
template <class R, class P, class R2, class P2>
constexpr common_type_t<R, R2> operator/(const duration<R, P> &, const duration<R2, P2> &);
template <class R, class P, class R2, class P2> constexpr bool operator<(const duration<R, P> &, const duration<R2, P2> &);
template <class R, class P, class R2, class P2> constexpr bool operator>(const duration<R, P> &, const duration<R2, P2> &);
typedef duration<long, nano> nanoseconds;
typedef duration<long, micro> microseconds;
typedef duration<long, milli> milliseconds;
typedef duration<long> seconds;
typedef duration<long, ratio<60>> minutes;
typedef duration<long, ratio<3600>> hours;
template <class C, class D = nanoseconds> class time_point {
 public:
  typedef C clock;
  typedef D duration;
  typedef typename D::rep rep;
  constexpr time_point() {}
  constexpr D time_since_epoch() const { return D(); }
  static time_point max();
  static time_point min();
};
template <class C, class D> constexpr D operator-(const time_point<C, D> &, const time_point<C, D> &);
template <class C, class D, class E> constexpr time_point<C, D> operator+(const time_point<C, D> &, const E &);
template <class C, class D> constexpr bool operator<(const time_point<C, D> &, const time_point<C, D> &);
template <class T, class R, class P> constexpr T duration_cast(const duration<R, P> &);
template <class T, class C, class D> constexpr time_point<C, T> time_point_cast(const time_point<C, D> &);
struct steady_clock {
  typedef nanoseconds duration;
  typedef long rep;
  typedef nano period;
  typedef chrono::time_point<steady_clock> time_point;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};
struct system_clock {
  typedef nanoseconds duration;
  typedef long rep;
  typedef nano period;
  typedef chrono::time_point<system_clock> time_point;
  static constexpr bool is_steady = false;
  static time_point now() noexcept;
  static long to_time_t(const time_point &) noexcept;
};
typedef system_clock high_resolution_clock;
}  // namespace chrono
inline namespace literals {
inline namespace chrono_literals {
constexpr chrono::milliseconds operator""ms(unsigned long long);
constexpr chrono::microseconds operator""us(unsigned long long);
constexpr chrono::nanoseconds operator""ns(unsigned long long);
}
}

template <class T> class complex {
  T re, im;

 public:
  typedef T value_type;
  constexpr complex(T r = T(), T i = T()) : re(r), im(i) {}
  template <class U> constexpr complex(const complex<U> &o) : re(o.real()), im(o.imag()) {}
  constexpr T real() const { return re; }
  constexpr T imag() const { return im; }
  void real(T);
  void imag(T);
  template <class U> complex &operator=(const U &);
  template <class U> complex &operator+=(const U &);
  template <class U> complex &operator-=(const U &);
  template <class U> complex &operator*=(const U &);
  template <class U> complex &operator/=(const U &);
};
#define PORTER_COMPLEX(op)                                                                \
  template <class T> constexpr complex<T> operator op(const complex<T> &, const complex<T> &); \
  template <class T> constexpr complex<T> operator op(const complex<T> &, const remove_cv_t<T> &); \
  template <class T> constexpr complex<T> operator op(const remove_cv_t<T> &, const complex<T> &);
PORTER_COMPLEX(+)
PORTER_COMPLEX(-)
PORTER_COMPLEX(*)
PORTER_COMPLEX(/)
#undef PORTER_COMPLEX
template <class T> constexpr bool operator==(const complex<T> &, const complex<T> &);
template <class T> constexpr bool operator!=(const complex<T> &, const complex<T> &);
template <class T> constexpr complex<T> operator-(const complex<T> &);
template <class T> constexpr complex<T> operator+(const complex<T> &);
template <class T> T abs(const complex<T> &);
template <class T> T arg(const complex<T> &);
template <class T> T norm(const complex<T> &);
template <class T> T real(const complex<T> &);
template <class T> T imag(const complex<T> &);
template <class T> complex<T> conj(const complex<T> &);
template <class T> complex<T> polar(T, T = T());
template <class T> complex<T> exp(const complex<T> &);
template <class T> complex<T> log(const complex<T> &);
template <class T> complex<T> sqrt(const complex<T> &);
template <class T> complex<T> sin(const complex<T> &);
template <class T> complex<T> cos(const complex<T> &);
template <class T, class U> complex<T> pow(const complex<T> &, const U &);
inline namespace literals {
inline namespace complex_literals { constexpr complex<double> operator""i(long double) { return 0; } }
}
}  // namespace std
#pragma clang force_cuda_host_device end
