/* Memory that is lent to other libraries, which give it back from any thread, at any time. Who
 * lent it asks now and then what has come back. */
#ifndef JOIST_CORE_EXCHANGE_LOAN_H
#define JOIST_CORE_EXCHANGE_LOAN_H

struct joist_loan;

/* A loan with one holder of what `owner`, which is not NULL, keeps; NULL when memory is out. */
struct joist_loan *joist_loan_new(void *owner);
/* One holder more, and one less: from any thread. Nobody may name a loan that nobody holds. */
void joist_loan_hold(struct joist_loan *loan);
void joist_loan_release(struct joist_loan *loan);

/* The owner of a loan that nobody holds any more, once; NULL when there is none. Costs one read
 * of memory then. From one thread only. */
void *joist_loan_returned(void);

#endif
