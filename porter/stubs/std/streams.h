// Streams, threads, atomics, files, and the C names in namespace std.
#pragma once
#include "algorithm.h"
#include "clib.h"
#pragma clang force_cuda_host_device begin

namespace std {
typedef long streamsize;
typedef long streamoff;
typedef long streampos;
enum class errc { invalid_argument };
struct locale { locale(); explicit locale(const char *); };
class ios_base {
 public:
  class failure : public exception { public: explicit failure(const string &); };
  long &iword(int);
  static int xalloc();
  enum fmtflags { boolalpha, dec, fixed, hex, internal, left, oct, right, scientific, showbase, showpoint, showpos, skipws, uppercase, floatfield, adjustfield, basefield };
  enum openmode { app = 1, ate = 2, binary = 4, in = 8, out = 16, trunc = 32 };
  enum iostate { goodbit = 0, badbit = 1, eofbit = 2, failbit = 4 };
  enum seekdir { beg, cur, end };
  static bool sync_with_stdio(bool = true);
  fmtflags flags() const;
  fmtflags flags(fmtflags);
  fmtflags setf(fmtflags);
  fmtflags setf(fmtflags, fmtflags);
  void unsetf(fmtflags);
  streamsize precision() const;
  streamsize precision(streamsize);
  streamsize width() const;
  streamsize width(streamsize);
  locale imbue(const locale &);
};
constexpr ios_base::openmode operator|(ios_base::openmode a, ios_base::openmode b) { return a; }
constexpr ios_base::fmtflags operator|(ios_base::fmtflags a, ios_base::fmtflags b) { return a; }
constexpr ios_base::iostate operator|(ios_base::iostate a, ios_base::iostate b) { return a; }
class streambuf;
template <class C, class Tr = char_traits<C>> class basic_ios : public ios_base {
 public:
  bool good() const;
  bool eof() const;
  bool fail() const;
  bool bad() const;
  explicit operator bool() const;
  bool operator!() const;
  iostate rdstate() const;
  void clear(iostate = goodbit);
  void setstate(iostate);
  void exceptions(iostate);
  C fill() const;
  C fill(C);
  streambuf *rdbuf() const;
  streambuf *rdbuf(streambuf *);
};
typedef basic_ios<char> ios;
template <class C, class Tr = char_traits<C>> class basic_ostream : virtual public basic_ios<C, Tr> {
 public:
  explicit basic_ostream(streambuf *);
  basic_ostream &operator<<(bool);
  basic_ostream &operator<<(short);
  basic_ostream &operator<<(unsigned short);
  basic_ostream &operator<<(int);
  basic_ostream &operator<<(unsigned);
  basic_ostream &operator<<(long);
  basic_ostream &operator<<(unsigned long);
  basic_ostream &operator<<(long long);
  basic_ostream &operator<<(unsigned long long);
  basic_ostream &operator<<(float);
  basic_ostream &operator<<(double);
  basic_ostream &operator<<(long double);
  basic_ostream &operator<<(const void *);
  basic_ostream &operator<<(nullptr_t);
  basic_ostream &operator<<(streambuf *);
  basic_ostream &operator<<(basic_ostream &(*)(basic_ostream &));
  basic_ostream &operator<<(ios_base &(*)(ios_base &));
  basic_ostream &write(const C *, streamsize);
  basic_ostream &put(C);
  basic_ostream &flush();
  streampos tellp();
  basic_ostream &seekp(streamoff, ios_base::seekdir = ios_base::beg);
};
typedef basic_ostream<char> ostream;
ostream &operator<<(ostream &, char);
ostream &operator<<(ostream &, signed char);
ostream &operator<<(ostream &, unsigned char);
ostream &operator<<(ostream &, const char *);
ostream &operator<<(ostream &, const signed char *);
ostream &operator<<(ostream &, const unsigned char *);
ostream &operator<<(ostream &, const string &);
ostream &operator<<(ostream &, string_view);
template <class T> ostream &operator<<(ostream &, const complex<T> &);
template <size_t n> ostream &operator<<(ostream &, const bitset<n> &);
template <class T> ostream &operator<<(ostream &, const shared_ptr<T> &);
ostream &endl(ostream &);
ostream &flush(ostream &);
ostream &ends(ostream &);
template <class C, class Tr = char_traits<C>> class basic_istream : virtual public basic_ios<C, Tr> {
 public:
  explicit basic_istream(streambuf *);
  template <class T> basic_istream &operator>>(T &);
  basic_istream &operator>>(ios_base &(*)(ios_base &));
  basic_istream &read(C *, streamsize);
  int get();
  basic_istream &get(C &);
  basic_istream &getline(C *, streamsize);
  basic_istream &getline(C *, streamsize, C);
  basic_istream &ignore(streamsize = 1, int = -1);
  int peek();
  basic_istream &unget();
  streamsize gcount() const;
  streampos tellg();
  basic_istream &seekg(streamoff, ios_base::seekdir = ios_base::beg);
};
typedef basic_istream<char> istream;
template <class S> enable_if_t<is_base_of_v<istream, S>, istream &> getline(S &&, string &);
istream &getline(istream &, string &);
istream &getline(istream &, string &, char);
istream &ws(istream &);
class iostream : public istream, public ostream { public: iostream(streambuf *); };
class stringstream : public iostream {
 public:
  explicit stringstream(ios_base::openmode = ios_base::in);
  explicit stringstream(const string &, ios_base::openmode = ios_base::in);
  string str() const;
  void str(const string &);
};
class ostringstream : public ostream {
 public:
  explicit ostringstream(ios_base::openmode = ios_base::out);
  explicit ostringstream(const string &, ios_base::openmode = ios_base::out);
  string str() const;
  void str(const string &);
};
class istringstream : public istream {
 public:
  explicit istringstream(const string &, ios_base::openmode = ios_base::in);
  string str() const;
  void str(const string &);
};
#define PORTER_FILE(name, base)                                                          \
  class name : public base {                                                             \
   public:                                                                               \
    name();                                                                              \
    explicit name(const char *, ios_base::openmode = ios_base::in);                      \
    explicit name(const string &, ios_base::openmode = ios_base::in);                    \
    void open(const char *, ios_base::openmode = ios_base::in);                          \
    void open(const string &, ios_base::openmode = ios_base::in);                        \
    bool is_open() const;                                                                \
    void close();                                                                        \
  };
PORTER_FILE(ifstream, istream)
PORTER_FILE(ofstream, ostream)
PORTER_FILE(fstream, iostream)
#undef PORTER_FILE
class streambuf { public: virtual ~streambuf(); };
class stringbuf : public streambuf { public: string str() const; };
extern istream cin;
extern ostream cout, cerr, clog;
#define PORTER_FLAG(name) ios_base &name(ios_base &);
PORTER_FLAG(boolalpha)
PORTER_FLAG(noboolalpha)
PORTER_FLAG(dec)
PORTER_FLAG(hex)
PORTER_FLAG(oct)
PORTER_FLAG(fixed)
PORTER_FLAG(scientific)
PORTER_FLAG(defaultfloat)
PORTER_FLAG(left)
PORTER_FLAG(right)
PORTER_FLAG(internal)
PORTER_FLAG(showpos)
PORTER_FLAG(noshowpos)
PORTER_FLAG(showbase)
PORTER_FLAG(showpoint)
PORTER_FLAG(uppercase)
PORTER_FLAG(nouppercase)
PORTER_FLAG(skipws)
PORTER_FLAG(noskipws)
#undef PORTER_FLAG
struct porter_manipulator {};
porter_manipulator setw(int);
porter_manipulator setprecision(int);
porter_manipulator setbase(int);
porter_manipulator setfill(char);
porter_manipulator setiosflags(ios_base::fmtflags);
porter_manipulator resetiosflags(ios_base::fmtflags);
porter_manipulator put_time(const tm *, const char *);
porter_manipulator quoted(const string &);
ostream &operator<<(ostream &, porter_manipulator);

enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
template <class T> struct atomic {
  typedef T value_type;
  atomic() noexcept;
  constexpr atomic(T) noexcept {}
  T load(memory_order = memory_order_seq_cst) const noexcept;
  void store(T, memory_order = memory_order_seq_cst) noexcept;
  T exchange(T, memory_order = memory_order_seq_cst) noexcept;
  T fetch_add(T, memory_order = memory_order_seq_cst) noexcept;
  T fetch_sub(T, memory_order = memory_order_seq_cst) noexcept;
  T fetch_or(T, memory_order = memory_order_seq_cst) noexcept;
  T fetch_and(T, memory_order = memory_order_seq_cst) noexcept;
  template <class... A> bool compare_exchange_strong(T &, T, A...) noexcept;
  template <class... A> bool compare_exchange_weak(T &, T, A...) noexcept;
  operator T() const noexcept;
  T operator=(T) noexcept;
  T operator++() noexcept;
  T operator++(int) noexcept;
  T operator--() noexcept;
  T operator+=(T) noexcept;
  T operator-=(T) noexcept;
};
typedef atomic<bool> atomic_bool;
typedef atomic<int> atomic_int;
typedef atomic<size_t> atomic_size_t;
void atomic_thread_fence(memory_order) noexcept;
class thread {
 public:
  typedef unsigned long id;
  thread() noexcept;
  template <class F, class... A> explicit thread(F &&, A &&...);
  void join();
  void detach();
  bool joinable() const;
  id get_id() const;
  static unsigned hardware_concurrency();
};
namespace this_thread {
template <class D> void sleep_for(const D &);
thread::id get_id();
void yield();
}
class mutex { public: void lock(); void unlock(); bool try_lock(); };
class recursive_mutex : public mutex {};
class shared_mutex : public mutex { public: void lock_shared(); void unlock_shared(); };
#define PORTER_LOCK(name) \
  template <class M = mutex> class name { public: name(); template <class... A> explicit name(M &, A &&...); void lock(); void unlock(); };
PORTER_LOCK(lock_guard)
PORTER_LOCK(unique_lock)
PORTER_LOCK(scoped_lock)
PORTER_LOCK(shared_lock)
#undef PORTER_LOCK
struct once_flag {};
template <class F, class... A> void call_once(once_flag &, F &&, A &&...);
class condition_variable { public: template <class... A> void wait(A &&...); template <class... A> bool wait_for(A &&...); void notify_one(); void notify_all(); };
namespace filesystem {
class path {
 public:
  path();
  template <class S> path(const S &);
  path operator/(const path &) const;
  path &operator/=(const path &);
  std::string string() const;
  const char *c_str() const;
  path filename() const;
  path stem() const;
  path extension() const;
  path parent_path() const;
};
bool exists(const path &);
bool is_directory(const path &);
bool create_directory(const path &);
bool create_directories(const path &);
uintmax_t file_size(const path &);
bool remove(const path &);
path current_path();
}
ostream &operator<<(ostream &, const filesystem::path &);

#define PORTER_C(name) using ::name;
PORTER_C(FILE) PORTER_C(printf) PORTER_C(fprintf) PORTER_C(sprintf) PORTER_C(snprintf) PORTER_C(vsnprintf) PORTER_C(scanf)
PORTER_C(sscanf) PORTER_C(fscanf) PORTER_C(fopen) PORTER_C(fclose) PORTER_C(fread) PORTER_C(fwrite) PORTER_C(fgets) PORTER_C(puts)
PORTER_C(fflush) PORTER_C(fseek) PORTER_C(ftell) PORTER_C(rewind) PORTER_C(feof) PORTER_C(getc) PORTER_C(putchar) PORTER_C(getchar)
PORTER_C(malloc) PORTER_C(calloc) PORTER_C(realloc) PORTER_C(free) PORTER_C(exit) PORTER_C(abort) PORTER_C(atexit) PORTER_C(getenv)
PORTER_C(system) PORTER_C(atoi) PORTER_C(atol) PORTER_C(atof) PORTER_C(atoll) PORTER_C(strtol) PORTER_C(strtoul) PORTER_C(strtod)
PORTER_C(strtof) PORTER_C(strtoll) PORTER_C(strtoull) PORTER_C(rand) PORTER_C(srand) PORTER_C(qsort) PORTER_C(aligned_alloc) PORTER_C(perror)
PORTER_C(memcpy) PORTER_C(memmove) PORTER_C(memset) PORTER_C(memcmp) PORTER_C(strlen) PORTER_C(strcpy) PORTER_C(strncpy)
PORTER_C(strcat) PORTER_C(strcmp) PORTER_C(strncmp) PORTER_C(strchr) PORTER_C(strrchr) PORTER_C(strstr) PORTER_C(strtok) PORTER_C(strerror)
PORTER_C(isalpha) PORTER_C(isdigit) PORTER_C(isalnum) PORTER_C(isspace) PORTER_C(isupper) PORTER_C(islower) PORTER_C(toupper)
PORTER_C(tolower) PORTER_C(tm) PORTER_C(time_t) PORTER_C(clock_t) PORTER_C(time) PORTER_C(localtime) PORTER_C(ctime) PORTER_C(difftime)
PORTER_C(strtold) PORTER_C(isblank) PORTER_C(isprint) PORTER_C(ispunct) PORTER_C(isxdigit) PORTER_C(iscntrl) PORTER_C(isgraph) PORTER_C(ferror) PORTER_C(fputs)
PORTER_C(fgetc) PORTER_C(fputc) PORTER_C(putc) PORTER_C(ungetc) PORTER_C(remove) PORTER_C(rename) PORTER_C(tmpfile) PORTER_C(memchr) PORTER_C(strncat) PORTER_C(strspn)
PORTER_C(strcspn) PORTER_C(strpbrk) PORTER_C(vprintf) PORTER_C(vfprintf) PORTER_C(vsprintf) PORTER_C(bsearch) PORTER_C(div) PORTER_C(size_t) PORTER_C(clearerr) PORTER_C(freopen)
PORTER_C(strftime) PORTER_C(signal) PORTER_C(va_list) PORTER_C(gmtime) PORTER_C(mktime)
#undef PORTER_C
using ::clock;
}  // namespace std
#pragma clang force_cuda_host_device end
