/* What the files of calls share. */
#ifndef PORTER_API_H
#define PORTER_API_H

#include "host.h"
#include NAMES_FILE

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define NAME(name) TEXT(API(name))

typedef struct Pitched {
    void *at;
    size_t pitch, width, height;
} Pitched;
typedef struct Extent {
    size_t width, height, depth;
} Extent;
typedef struct Position {
    size_t x, y, z;
} Position;
typedef struct Copy3D {
    void *from_array;
    Position from_at;
    Pitched from;
    void *to_array;
    Position to_at;
    Pitched to;
    Extent extent;
    int way;
} Copy3D;

typedef struct Field {
    const char *name;
    size_t offset, size, one;
} Field;
#define FIELD(name, offset, size, one) {#name, offset, size, one},
#define SIZE(bytes)

int reaches(const char *call, const void *at, size_t bytes, int device); /* status: the memory is there */
int copy(const char *call, void *to, const void *from, size_t bytes, int way);
int copy_3d(const char *call, const Copy3D *);
int copy_3d_arrays(const char *call, const Copy3D *); /* CUDA's: ports have arrays of their own */
int set_memory(const char *call, void *to, int value, size_t bytes);
int queue_keeps(void *stream);
int queue_captures(void *stream);
int queue_copy(void *stream, void *to, const void *from, size_t bytes, int way);
int queue_set(void *stream, void *to, int value, size_t bytes);
int queue_call(void *stream, void (*call)(void *), void *data);
int queue_call_back(void *stream, void (*call)(void *), void *data); /* the program's own code */
int queue_launch(void *stream, const Request *);
void queue_drain(void);
void queue_drain_of(void *stream);
void queue_drain_null(void);
int stream_blocks(const void *stream); /* whether the null stream and it wait for each other */
void queue_dropped(void);
long long property(const char *name);
int write_properties(uint8_t *into, const Field *fields, size_t count, size_t size);
int attribute(const char *call, int *into, int which, int device);
unsigned push_configuration(Dim grid, Dim block, size_t shared, void *stream);
int pop_configuration(Dim *grid, Dim *block, size_t *shared, void **stream);
Function *function_of(const char *call, const void *host, int *status);
int launch_function(const char *call, const void *host, Dim grid, Dim block, void **arguments, size_t shared, void *stream, int cooperative);
int launch_packed(const char *call, Function *, Dim grid, Dim block, const void *packed, size_t bytes, size_t shared, void *stream, int cooperative);
int potential_block(const char *call, int *grid, int *block, const void *host, size_t (*dynamic)(int), size_t shared, int limit);
uint64_t resident_blocks(const Function *f, Dim block, size_t shared);
_Noreturn void end_by_signal(int number);
extern int pointer_device, pointer_host;
#define BEGIN LOCKED; lend(0); ready()
#define STAND_IN LOCKED; lend(1); ready() /* of calls that stand-ins make */
#define SYNCHRONISED BEGIN; queue_drain() /* of calls that wait for what was asked for before */
#define IN_NULL_STREAM BEGIN; queue_drain_null() /* of copies and fills that name no stream */
#endif
