#pragma once
// What c10/util/complex.h names of Thrust, where rocThrust is not installed. Functions are only declared: code that
// calls them compiles, and does not link.

#if defined(__HIPCC__)
#define PORTER_BOTH __host__ __device__
#else
#define PORTER_BOTH
#endif

namespace thrust {

template <typename T>
struct complex {
  PORTER_BOTH complex() : re(), im() {}
  PORTER_BOTH complex(const T& real, const T& imag = T()) : re(real), im(imag) {}
  template <typename U>
  PORTER_BOTH complex(const complex<U>& other) : re(static_cast<T>(other.real())), im(static_cast<T>(other.imag())) {}
  PORTER_BOTH T real() const { return re; }
  PORTER_BOTH T imag() const { return im; }

 private:
  T re;
  T im;
};

template <typename T>
PORTER_BOTH T abs(const complex<T>& value);
template <typename T>
PORTER_BOTH complex<T> polar(const T& magnitude, const T& angle = T());
template <typename T>
PORTER_BOTH complex<T> pow(const complex<T>& base, const complex<T>& exponent);
template <typename T>
PORTER_BOTH complex<T> pow(const complex<T>& base, const T& exponent);
template <typename T>
PORTER_BOTH complex<T> pow(const T& base, const complex<T>& exponent);

#define PORTER_DECLARED(name) \
  template <typename T>       \
  PORTER_BOTH complex<T> name(const complex<T>& value)

PORTER_DECLARED(exp);
PORTER_DECLARED(log);
PORTER_DECLARED(log10);
PORTER_DECLARED(sqrt);
PORTER_DECLARED(sin);
PORTER_DECLARED(cos);
PORTER_DECLARED(tan);
PORTER_DECLARED(asin);
PORTER_DECLARED(acos);
PORTER_DECLARED(atan);
PORTER_DECLARED(sinh);
PORTER_DECLARED(cosh);
PORTER_DECLARED(tanh);
PORTER_DECLARED(asinh);
PORTER_DECLARED(acosh);
PORTER_DECLARED(atanh);

#undef PORTER_DECLARED
#undef PORTER_BOTH

}  // namespace thrust
