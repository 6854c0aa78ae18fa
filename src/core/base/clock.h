/* Clocks. */
#ifndef JOIST_CORE_BASE_CLOCK_H
#define JOIST_CORE_BASE_CLOCK_H

/* Seconds that the calling thread has had a processor; 0 where the system does not say. */
double joist_busy_seconds(void);

/* Suspends the calling thread for a millisecond; an interrupt may end that early. */
void joist_sleep_millisecond(void);

#endif
