/* Reference counts of memory that other libraries read, and release from any thread, at any time.
 * The owner of the memory polls for what was released. */
#ifndef JOIST_CORE_EXCHANGE_KEEP_ALIVE_H
#define JOIST_CORE_EXCHANGE_KEEP_ALIVE_H

struct joist_keep_alive;

/* A count of one for what `owner`, which is not NULL, keeps; NULL when memory is out. */
struct joist_keep_alive *joist_keep_alive_new(void *owner);
/* One holder more, and one less: from any thread. The last release ends the count's life. */
void joist_keep_alive_hold(struct joist_keep_alive *keep);
void joist_keep_alive_release(struct joist_keep_alive *keep);

/* An owner whose memory has no holder any more, once; NULL when there is none. Costs one read of
 * memory then. From one thread only. */
void *joist_keep_alive_returned(void);

#endif
