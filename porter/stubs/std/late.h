// Names of the standard library that programs like to use themselves: only included where the program asks for them.
#pragma once
#include "streams.h"

#pragma clang force_cuda_host_device begin
namespace std {
template <class T> class future { public: T get(); void wait() const; bool valid() const; };
template <class T> class promise { public: future<T> get_future(); void set_value(const T &); };
template <class F, class... A> future<invoke_result_t<F, A...>> async(F &&, A &&...);
enum class launch { async, deferred };
PORTER_SEQUENCE(list)
PORTER_SEQUENCE(forward_list)
#define PORTER_ADAPTOR(name, ...)                                      \
  template <class T, __VA_ARGS__> class name {                         \
   public:                                                             \
    typedef T value_type;                                              \
    template <class... A> name(A &&...);                               \
    bool empty() const;                                                \
    size_t size() const;                                               \
    T &front();                                                        \
    const T &front() const;                                            \
    T &back();                                                         \
    const T &top() const;                                              \
    T &top();                                                          \
    void push(const T &);                                              \
    template <class... A> void emplace(A &&...);                       \
    void pop();                                                        \
    void swap(name &);                                                 \
  };
PORTER_ADAPTOR(queue, class C = deque<T>)
PORTER_ADAPTOR(stack, class C = deque<T>)
PORTER_ADAPTOR(priority_queue, class C = vector<T>, class L = less<T>)
#undef PORTER_ADAPTOR
struct monostate {};
template <class... T> class variant { public: variant(); template <class U> variant(U &&); size_t index() const; };
template <class T, class... U> T &get(variant<U...> &);
template <class T, class... U> bool holds_alternative(const variant<U...> &);
template <class F, class... V> void visit(F &&, V &&...);
class any { public: any(); template <class T> any(T &&); bool has_value() const; };
template <class T> T any_cast(const any &);

}  // namespace std
#pragma clang force_cuda_host_device end
