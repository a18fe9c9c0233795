// Iterators, containers, strings, smart pointers: enough of them that user code gets its types.
#pragma once
#include "traits.h"
#pragma clang force_cuda_host_device begin

namespace std {
struct input_iterator_tag {};
struct output_iterator_tag {};
struct forward_iterator_tag : input_iterator_tag {};
struct bidirectional_iterator_tag : forward_iterator_tag {};
struct random_access_iterator_tag : bidirectional_iterator_tag {};
template <class It, class = void> struct iterator_traits {};
template <class It> struct iterator_traits<It, void_t<typename It::iterator_category>> {
  typedef typename It::value_type value_type;
  typedef typename It::difference_type difference_type;
  typedef typename It::pointer pointer;
  typedef typename It::reference reference;
  typedef typename It::iterator_category iterator_category;
};
template <class T> struct iterator_traits<T *, void> {
  typedef remove_cv_t<T> value_type;
  typedef ptrdiff_t difference_type;
  typedef T *pointer;
  typedef T &reference;
  typedef random_access_iterator_tag iterator_category;
};
template <class C, class T, class D = ptrdiff_t, class P = T *, class R = T &> struct iterator {
  typedef T value_type;
  typedef D difference_type;
  typedef P pointer;
  typedef R reference;
  typedef C iterator_category;
};
template <class T, class P = T *, class R = T &> struct porter_iterator {
  typedef T value_type;
  typedef ptrdiff_t difference_type;
  typedef P pointer;
  typedef R reference;
  typedef random_access_iterator_tag iterator_category;
  porter_iterator();
  template <class Q, class S> porter_iterator(const porter_iterator<T, Q, S> &);
  R operator*() const;
  P operator->() const;
  R operator[](ptrdiff_t) const;
  porter_iterator base() const;
  porter_iterator &operator++();
  porter_iterator operator++(int);
  porter_iterator &operator--();
  porter_iterator operator--(int);
  porter_iterator &operator+=(ptrdiff_t);
  porter_iterator &operator-=(ptrdiff_t);
  porter_iterator operator+(ptrdiff_t) const;
  porter_iterator operator-(ptrdiff_t) const;
  template <class Q, class S> ptrdiff_t operator-(const porter_iterator<T, Q, S> &) const;
  template <class Q, class S> bool operator==(const porter_iterator<T, Q, S> &) const;
  template <class Q, class S> bool operator!=(const porter_iterator<T, Q, S> &) const;
  template <class Q, class S> bool operator<(const porter_iterator<T, Q, S> &) const;
  template <class Q, class S> bool operator>(const porter_iterator<T, Q, S> &) const;
  template <class Q, class S> bool operator<=(const porter_iterator<T, Q, S> &) const;
  template <class Q, class S> bool operator>=(const porter_iterator<T, Q, S> &) const;
};
template <class It> using reverse_iterator = It;
template <class It> using move_iterator = It;
template <class C> struct back_insert_iterator : porter_iterator<typename C::value_type> {
  template <class T> back_insert_iterator &operator=(T &&);
  back_insert_iterator &operator*();
  back_insert_iterator &operator++();
};
template <class C> back_insert_iterator<C> back_inserter(C &);
template <class C, class It> back_insert_iterator<C> inserter(C &, It);
template <class T> struct istream_iterator : porter_iterator<T> { template <class... A> istream_iterator(A &&...); };
template <class T> struct istreambuf_iterator : porter_iterator<T> { template <class... A> istreambuf_iterator(A &&...); };
template <class T> struct ostream_iterator : porter_iterator<T> { template <class... A> ostream_iterator(A &&...); };
template <class It> It make_move_iterator(It);
template <class It> void advance(It &, ptrdiff_t);
template <class It> typename iterator_traits<It>::difference_type distance(It, It);
template <class It> It next(It, ptrdiff_t = 1);
template <class It> It prev(It, ptrdiff_t = 1);
template <class C> auto begin(C &c) -> decltype(c.begin());
template <class C> auto begin(const C &c) -> decltype(c.begin());
template <class C> auto end(C &c) -> decltype(c.end());
template <class C> auto end(const C &c) -> decltype(c.end());
template <class C> auto cbegin(const C &c) -> decltype(c.begin());
template <class C> auto cend(const C &c) -> decltype(c.end());
template <class T, size_t n> T *begin(T (&)[n]);
template <class T, size_t n> T *end(T (&)[n]);
template <class C> constexpr auto size(const C &c) -> decltype(c.size());
template <class T, size_t n> constexpr size_t size(const T (&)[n]) noexcept { return n; }

template <class T> struct allocator {
  typedef T value_type;
  typedef T *pointer;
  typedef const T *const_pointer;
  typedef T &reference;
  typedef const T &const_reference;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  template <class U> struct rebind { typedef allocator<U> other; };
  allocator() noexcept;
  template <class U> allocator(const allocator<U> &) noexcept;
  T *allocate(size_t);
  void deallocate(T *, size_t);
};
template <class A> struct allocator_traits { typedef typename A::value_type value_type; };

template <class T, class It = porter_iterator<T>, class Cit = porter_iterator<T, const T *, const T &>>
class porter_container {
 public:
  typedef T value_type;
  typedef T &reference;
  typedef const T &const_reference;
  typedef T *pointer;
  typedef const T *const_pointer;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  typedef It iterator;
  typedef Cit const_iterator;
  typedef It reverse_iterator;
  typedef Cit const_reverse_iterator;
  iterator begin() noexcept;
  iterator end() noexcept;
  const_iterator begin() const noexcept;
  const_iterator end() const noexcept;
  const_iterator cbegin() const noexcept;
  const_iterator cend() const noexcept;
  iterator rbegin() noexcept;
  iterator rend() noexcept;
  const_iterator rbegin() const noexcept;
  const_iterator rend() const noexcept;
  bool empty() const noexcept;
  size_t size() const noexcept;
  size_t max_size() const noexcept;
  void clear() noexcept;
};

template <class T> class porter_sequence : public porter_container<T> {
 public:
  typedef typename porter_container<T>::iterator iterator;
  typedef typename porter_container<T>::const_iterator const_iterator;
  T &front();
  const T &front() const;
  T &back();
  const T &back() const;
  T &operator[](size_t);
  const T &operator[](size_t) const;
  T &at(size_t);
  const T &at(size_t) const;
  void push_back(const T &);
  void push_back(T &&);
  void push_front(const T &);
  template <class... A> T &emplace_back(A &&...);
  template <class... A> T &emplace_front(A &&...);
  template <class... A> iterator emplace(const_iterator, A &&...);
  void pop_back();
  void pop_front();
  template <class... A> iterator insert(const_iterator, A &&...);
  iterator insert(const_iterator, initializer_list<T>);
  iterator insert(const_iterator, const T &);
  iterator erase(const_iterator);
  iterator erase(const_iterator, const_iterator);
  void resize(size_t);
  void resize(size_t, const T &);
  void assign(size_t, const T &);
  template <class I> void assign(I, I);
  void assign(initializer_list<T>);
};
#define PORTER_SEQUENCE(name)                                            \
  template <class T, class A = allocator<T>> class name : public porter_sequence<T> { \
   public:                                                               \
    typedef A allocator_type;                                            \
    name() noexcept;                                                     \
    explicit name(size_t);                                               \
    explicit name(size_t, const A &);                                    \
    name(size_t, const T &, const A & = A());                            \
    template <class I, class = typename iterator_traits<I>::value_type> name(I, I); \
    name(initializer_list<T>);                                           \
    name &operator=(initializer_list<T>);                                \
    void swap(name &);                                                   \
    void reserve(size_t);                                                \
    void shrink_to_fit();                                                \
    size_t capacity() const noexcept;                                    \
    T *data() noexcept;                                                  \
    const T *data() const noexcept;                                      \
    void sort();                                                         \
    template <class F> void sort(F);                                     \
    void reverse();                                                      \
    void unique();                                                       \
    void remove(const T &);                                              \
    template <class... B> void splice(B &&...);                          \
    A get_allocator() const;                                             \
  };                                                                     \
  template <class T> bool operator==(const name<T> &, const name<T> &);  \
  template <class T> bool operator!=(const name<T> &, const name<T> &);  \
  template <class T> bool operator<(const name<T> &, const name<T> &);
PORTER_SEQUENCE(vector)
PORTER_SEQUENCE(deque)

template <class T, size_t n> struct array {
  typedef T value_type;
  typedef T &reference;
  typedef const T &const_reference;
  typedef T *pointer;
  typedef T *iterator;
  typedef const T *const_iterator;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  T elements[n ? n : 1];
  constexpr T &operator[](size_t i) { return elements[i]; }
  constexpr const T &operator[](size_t i) const { return elements[i]; }
  constexpr T &at(size_t i) { return elements[i]; }
  constexpr const T &at(size_t i) const { return elements[i]; }
  constexpr T &front() { return elements[0]; }
  constexpr const T &front() const { return elements[0]; }
  constexpr T &back() { return elements[n - 1]; }
  constexpr const T &back() const { return elements[n - 1]; }
  constexpr T *data() { return elements; }
  constexpr const T *data() const { return elements; }
  constexpr T *begin() { return elements; }
  constexpr const T *begin() const { return elements; }
  constexpr T *end() { return elements + n; }
  constexpr const T *end() const { return elements + n; }
  constexpr const T *cbegin() const { return elements; }
  constexpr const T *cend() const { return elements + n; }
  constexpr size_t size() const { return n; }
  constexpr size_t max_size() const { return n; }
  constexpr bool empty() const { return n == 0; }
  void fill(const T &);
};
template <class T, class... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;
template <class T, size_t n> struct tuple_size<array<T, n>> : integral_constant<size_t, n> {};
template <size_t i, class T, size_t n> struct tuple_element<i, array<T, n>> { typedef T type; };
template <size_t i, class T, size_t n> constexpr T &get(array<T, n> &) noexcept;
template <size_t i, class T, size_t n> constexpr const T &get(const array<T, n> &) noexcept;
template <class T, size_t n> constexpr bool operator==(const array<T, n> &, const array<T, n> &);
template <class T, size_t n> constexpr bool operator<(const array<T, n> &, const array<T, n> &);

template <class K, class V> class porter_associative : public porter_container<V> {
 public:
  typedef K key_type;
  typedef typename porter_container<V>::iterator iterator;
  typedef typename porter_container<V>::const_iterator const_iterator;
  iterator find(const K &);
  const_iterator find(const K &) const;
  size_t count(const K &) const;
  bool contains(const K &) const;
  iterator lower_bound(const K &);
  const_iterator lower_bound(const K &) const;
  iterator upper_bound(const K &);
  const_iterator upper_bound(const K &) const;
  pair<iterator, iterator> equal_range(const K &);
  pair<iterator, bool> insert(const V &);
  iterator insert(const_iterator, const V &);
  template <class I> void insert(I, I);
  void insert(initializer_list<V>);
  template <class... A> pair<iterator, bool> emplace(A &&...);
  template <class... A> pair<iterator, bool> try_emplace(A &&...);
  template <class... A> pair<iterator, bool> insert_or_assign(A &&...);
  size_t erase(const K &);
  iterator erase(const_iterator);
  iterator erase(iterator);
  iterator erase(const_iterator, const_iterator);
  void reserve(size_t);
};
#define PORTER_MAP(name, ...)                                                                    \
  template <class K, class T, __VA_ARGS__> class name : public porter_associative<K, pair<const K, T>> { \
   public:                                                                                       \
    typedef T mapped_type;                                                                       \
    name();                                                                                      \
    template <class L> explicit name(const L &);                                                 \
    template <class I> name(I, I);                                                               \
    name(initializer_list<pair<const K, T>>);                                                    \
    void swap(name &);                                                                           \
    T &operator[](const K &);                                                                    \
    T &at(const K &);                                                                            \
    const T &at(const K &) const;                                                                \
  };
PORTER_MAP(map, class C = less<K>, class A = allocator<K>)
PORTER_MAP(multimap, class C = less<K>, class A = allocator<K>)
PORTER_MAP(unordered_map, class H = hash<K>, class E = equal_to<K>, class A = allocator<K>)
PORTER_MAP(unordered_multimap, class H = hash<K>, class E = equal_to<K>, class A = allocator<K>)
#undef PORTER_MAP
#define PORTER_SET(name, ...)                                                        \
  template <class K, __VA_ARGS__> class name : public porter_associative<K, K> {     \
   public:                                                                           \
    name();                                                                          \
    template <class L> explicit name(const L &);                                     \
    template <class I> name(I, I);                                                   \
    name(initializer_list<K>);                                                       \
    void swap(name &);                                                               \
  };
PORTER_SET(set, class C = less<K>, class A = allocator<K>)
PORTER_SET(multiset, class C = less<K>, class A = allocator<K>)
PORTER_SET(unordered_set, class H = hash<K>, class E = equal_to<K>, class A = allocator<K>)
PORTER_SET(unordered_multiset, class H = hash<K>, class E = equal_to<K>, class A = allocator<K>)
#undef PORTER_SET
template <size_t n> class bitset {
 public:
  bitset();
  bitset(unsigned long long);
  bool operator[](size_t) const;
  struct reference { reference &operator=(bool); operator bool() const; };
  reference operator[](size_t);
  bitset &set();
  bitset &set(size_t, bool = true);
  bitset &reset();
  bitset &reset(size_t);
  bool test(size_t) const;
  bool any() const;
  bool none() const;
  size_t count() const;
  unsigned long to_ulong() const;
};
template <class T> class optional {
 public:
  typedef T value_type;
  optional();
  template <class U> optional(U &&);
  T &operator*();
  const T &operator*() const;
  T *operator->();
  const T *operator->() const;
  T &value();
  const T &value() const;
  template <class U> T value_or(U &&) const;
  bool has_value() const;
  explicit operator bool() const;
  void reset();
  template <class... A> T &emplace(A &&...);
};
struct nullopt_t {};
inline constexpr nullopt_t nullopt{};
template <class C> struct char_traits { typedef C char_type; };
template <class C, class Tr = char_traits<C>> class basic_string_view : public porter_container<C, const C *, const C *> {
 public:
  static constexpr size_t npos = -1;
  constexpr basic_string_view() noexcept {}
  constexpr basic_string_view(const C *) noexcept {}
  constexpr basic_string_view(const C *, size_t) noexcept {}
  const C *data() const;
  size_t length() const;
  const C &operator[](size_t) const;
  basic_string_view substr(size_t, size_t = npos) const;
  template <class... A> size_t find(A &&...) const;
};
template <class C, class Tr = char_traits<C>, class A = allocator<C>> class basic_string : public porter_sequence<C> {
 public:
  typedef Tr traits_type;
  static constexpr size_t npos = -1;
  basic_string() noexcept;
  basic_string(const C *);
  basic_string(const C *, size_t);
  basic_string(size_t, C);
  basic_string(const basic_string &, size_t, size_t = npos);
  basic_string(initializer_list<C>);
  explicit basic_string(basic_string_view<C>);
  template <class I, class = typename iterator_traits<I>::value_type> basic_string(I, I);
  operator basic_string_view<C>() const noexcept;
  basic_string &operator=(const C *);
  basic_string &operator=(C);
  basic_string &operator+=(const basic_string &);
  basic_string &operator+=(const C *);
  basic_string &operator+=(C);
  const C *c_str() const noexcept;
  const C *data() const noexcept;
  C *data() noexcept;
  size_t length() const noexcept;
  size_t capacity() const noexcept;
  void reserve(size_t = 0);
  basic_string substr(size_t = 0, size_t = npos) const;
  template <class... B> basic_string &append(B &&...);
  template <class... B> basic_string &replace(B &&...);
  using porter_sequence<C>::insert;
  using porter_sequence<C>::erase;
  basic_string &insert(size_t, const basic_string &);
  basic_string &insert(size_t, size_t, C);
  basic_string &erase(size_t = 0, size_t = npos);
  template <class... B> int compare(B &&...) const;
  size_t find(const basic_string &, size_t = 0) const;
  size_t find(const C *, size_t = 0) const;
  size_t find(C, size_t = 0) const;
  size_t rfind(const basic_string &, size_t = npos) const;
  size_t rfind(C, size_t = npos) const;
  template <class B> size_t find_first_of(const B &, size_t = 0) const;
  template <class B> size_t find_last_of(const B &, size_t = npos) const;
  template <class B> size_t find_first_not_of(const B &, size_t = 0) const;
  template <class B> size_t find_last_not_of(const B &, size_t = npos) const;
  size_t copy(C *, size_t, size_t = 0) const;
  void swap(basic_string &);
};
typedef basic_string<char> string;
typedef basic_string<wchar_t> wstring;
typedef basic_string_view<char> string_view;
template <class C> basic_string<C> operator+(const basic_string<C> &, const basic_string<C> &);
template <class C> basic_string<C> operator+(const basic_string<C> &, const C *);
template <class C> basic_string<C> operator+(const C *, const basic_string<C> &);
template <class C> basic_string<C> operator+(const basic_string<C> &, C);
template <class C> basic_string<C> operator+(C, const basic_string<C> &);
#define PORTER_COMPARE(op)                                                             \
  template <class C> bool operator op(const basic_string<C> &, const basic_string<C> &); \
  template <class C> bool operator op(const basic_string<C> &, const C *);              \
  template <class C> bool operator op(const C *, const basic_string<C> &);
PORTER_COMPARE(==)
PORTER_COMPARE(!=)
PORTER_COMPARE(<)
PORTER_COMPARE(>)
PORTER_COMPARE(<=)
PORTER_COMPARE(>=)
#undef PORTER_COMPARE
string to_string(int);
string to_string(unsigned);
string to_string(long);
string to_string(unsigned long);
string to_string(long long);
string to_string(unsigned long long);
string to_string(float);
string to_string(double);
int stoi(const string &, size_t * = nullptr, int = 10);
long stol(const string &, size_t * = nullptr, int = 10);
long long stoll(const string &, size_t * = nullptr, int = 10);
unsigned long stoul(const string &, size_t * = nullptr, int = 10);
unsigned long long stoull(const string &, size_t * = nullptr, int = 10);
float stof(const string &, size_t * = nullptr);
double stod(const string &, size_t * = nullptr);
long double stold(const string &, size_t * = nullptr);
inline namespace literals {
inline namespace string_literals { string operator""s(const char *, size_t); }
}

template <class T> struct pointer_traits { typedef T element_type; };
void *align(size_t, size_t, void *&, size_t &);
template <class T> struct default_delete { void operator()(T *) const; };
template <class T> struct default_delete<T[]> { void operator()(T *) const; };
template <class T, class D = default_delete<T>> class unique_ptr {
 public:
  typedef remove_extent_t<T> element_type;
  typedef element_type *pointer;
  unique_ptr() noexcept;
  unique_ptr(nullptr_t) noexcept;
  explicit unique_ptr(pointer) noexcept;
  unique_ptr(pointer, const D &) noexcept;
  unique_ptr(unique_ptr &&) noexcept;
  template <class U, class E> unique_ptr(unique_ptr<U, E> &&) noexcept;
  unique_ptr &operator=(unique_ptr &&) noexcept;
  template <class U, class E> unique_ptr &operator=(unique_ptr<U, E> &&) noexcept;
  unique_ptr &operator=(nullptr_t) noexcept;
  add_lvalue_reference_t<element_type> operator*() const;
  pointer operator->() const noexcept;
  add_lvalue_reference_t<element_type> operator[](size_t) const;
  pointer get() const noexcept;
  pointer release() noexcept;
  void reset(pointer = nullptr) noexcept;
  explicit operator bool() const noexcept;
  D &get_deleter();
  void swap(unique_ptr &);
};
template <class T> class shared_ptr {
 public:
  typedef remove_extent_t<T> element_type;
  shared_ptr() noexcept;
  shared_ptr(nullptr_t) noexcept;
  template <class U> explicit shared_ptr(U *);
  template <class U, class D> shared_ptr(U *, D);
  template <class U> shared_ptr(const shared_ptr<U> &) noexcept;
  template <class U, class D> shared_ptr(unique_ptr<U, D> &&);
  add_lvalue_reference_t<element_type> operator*() const;
  element_type *operator->() const noexcept;
  add_lvalue_reference_t<element_type> operator[](ptrdiff_t) const;
  element_type *get() const noexcept;
  void reset();
  template <class... A> void reset(A...);
  long use_count() const noexcept;
  explicit operator bool() const noexcept;
};
template <class T> class weak_ptr { public: weak_ptr(); template <class U> weak_ptr(const shared_ptr<U> &); shared_ptr<T> lock() const; };
template <class T> class enable_shared_from_this { public: shared_ptr<T> shared_from_this(); };
template <class T, class U> bool operator==(const unique_ptr<T> &, const U &);
template <class T, class U> bool operator!=(const unique_ptr<T> &, const U &);
template <class T, class U> bool operator==(const shared_ptr<T> &, const U &);
template <class T, class U> bool operator!=(const shared_ptr<T> &, const U &);
template <class T, class... A> unique_ptr<T> make_unique(A &&...);
template <class T, class... A> shared_ptr<T> make_shared(A &&...);
template <class T, class U> shared_ptr<T> static_pointer_cast(const shared_ptr<U> &);
template <class T, class U> shared_ptr<T> dynamic_pointer_cast(const shared_ptr<U> &);

class logic_error : public exception { public: explicit logic_error(const string &); explicit logic_error(const char *); };
class runtime_error : public exception { public: explicit runtime_error(const string &); explicit runtime_error(const char *); };
#define PORTER_ERROR(name, base) \
  class name : public base { public: explicit name(const string &); explicit name(const char *); };
PORTER_ERROR(invalid_argument, logic_error)
PORTER_ERROR(out_of_range, logic_error)
PORTER_ERROR(domain_error, logic_error)
PORTER_ERROR(length_error, logic_error)
PORTER_ERROR(range_error, runtime_error)
PORTER_ERROR(overflow_error, runtime_error)
PORTER_ERROR(underflow_error, runtime_error)
PORTER_ERROR(system_error, runtime_error)
#undef PORTER_ERROR
}  // namespace std
#pragma clang force_cuda_host_device end
