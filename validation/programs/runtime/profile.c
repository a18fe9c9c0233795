/* What each launch asked of the GPU, instruction by instruction, kept in a file: the estimate is made of it (profile.py). */
#define _GNU_SOURCE
#include "host.h"

#include <unistd.h>

#define MOST (1ull << 29) /* bytes of a profile */

static FILE *file;
static pid_t process; /* whose file it is: a fork has one of its own */
static uint64_t written;
static uint32_t number;

static const CacheShape *shape(void) {
    static CacheShape made;
    if (made.xcds) return &made;
    const char *given = getenv(LANES == 32 ? "PORTER_RUN_SHAPE_CUDA" : "PORTER_RUN_SHAPE_HIP");
    uint32_t *into = (uint32_t *)&made;
    char *at = (char *)given;
    for (size_t i = 0; at && i < sizeof made / sizeof *into; i++) into[i] = (uint32_t)strtoul(at, &at, 10);
    if (!made.xcds || !made.cus_per_xcd || !made.write_bits) end_process(END_BROKEN, "no caches to profile with: start the program with `porter run`");
    return &made;
}

void profile_before(const Request *r, Launch *l) {
    Kernel *k = r->kernel;
    if (!settings.profile) return;
    memset(k->sites, 0, k->site_count * sizeof *k->sites);
    memset(k->segments, 0, k->segment_count * sizeof *k->segments);
    l->flags |= COUNT_MEMORY | COUNT_CACHES;
    l->cache_shape = shape();
}

static int opened(void) {
    char path[600];
    if (file && process == getpid()) return 1;
    process = getpid();
    written = number = 0;
    snprintf(path, sizeof path, "%s/%s-%d.profile", settings.profile, SIDE, process);
    file = fopen(path, "wb");
    if (!file) end_process(END_BROKEN, "%s cannot be written", path);
    return 1;
}

/* A record: a head, the totals, the kernel's name, the segments, and the sites that have counts. */
void profile_after(const Request *r, const Launch *l) {
    const Kernel *k = r->kernel;
    if (!settings.profile || !opened()) return;
    number++;
    if (written > MOST) {
        note("more than %llu MiB of profile: later launches are not in it", (unsigned long long)(MOST >> 20));
        return;
    }
    uint32_t sites = 0;
    for (uint32_t i = 0; i < k->site_count; i++) sites += k->sites[i].requests != 0;
    const uint32_t head[] = {'P', number, (uint32_t)strlen(k->name), k->segment_count, sites, l->shared_bytes,
                             l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]};
    fwrite(head, sizeof head, 1, file);
    fwrite(&l->cache_totals, sizeof l->cache_totals, 1, file);
    fwrite(k->module->key, sizeof k->module->key, 1, file);
    fwrite(k->name, 1, head[2], file);
    fwrite(k->segments, sizeof *k->segments, k->segment_count, file);
    for (uint32_t i = 0; i < k->site_count; i++) {
        const uint64_t at = i;
        if (!k->sites[i].requests) continue;
        fwrite(&at, sizeof at, 1, file);
        fwrite(&k->sites[i], sizeof k->sites[i], 1, file);
    }
    written += sizeof head + head[2] + k->segment_count * sizeof *k->segments + sites * (sizeof *k->sites + 8);
    fflush(file);
}
