/* Work that is kept for later, as queues and graphs see it. */
#ifndef PORTER_QUEUE_H
#define PORTER_QUEUE_H

#include "api.h"

enum Act { COPY, SET, LAUNCH, CALL, CALL_BACK }; /* the last: the program's own code */
typedef struct Op {
    enum Act act;
    uint64_t number; /* in the order in which the program asked for all of them */
    int value; /* way of a copy, byte of a set */
    void *to;
    const void *from;
    size_t bytes;
    void (*call)(void *);
    Request request;
    struct Op *next;
} Op;
typedef struct List {
    Op *first, **last;
} List;
typedef struct Pending { /* of one stream */
    struct Pending *next;
    void *stream;
    List list;
    int capturing;
} Pending;

Pending *queue_of(void *stream);
int queue_perform(const Op *);
#endif
