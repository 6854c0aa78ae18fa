/* Promotion rules that are functions of R: asked about an operation and the nodes of its operands,
 * and what they answered, kept. Errors of R end here, as callers in the core may own memory. */
#include "r/tensor/rule_function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "r/base/conditions.h"

enum { LISTS = 256, UNDECIDED = -1 };

struct answer {
  struct answer *next;
  const char *op; /* a constant */
  int node;       /* UNDECIDED: the tables decide */
  char refusal[sizeof(struct joist_quote)];
  size_t count;
  uint8_t nodes[];
};

struct asked {
  struct joist_rule_function core;
  SEXP function, base; /* preserved: the function, and the rules without it */
  struct answer *lists[LISTS];
};

static struct answer **list_of(struct asked *asked, const char *op, const uint8_t *nodes,
                               size_t count) {
  unsigned hash = (unsigned)count;
  for (; *op != '\0'; op++) hash = 31 * hash + (unsigned char)*op;
  for (size_t k = 0; k < count; k++) hash = 31 * hash + nodes[k];
  return &asked->lists[hash % LISTS];
}

/* Numbers of R, by the names that users write whatever tables call them. */
static const struct {
  const char *name;
  int told, answered;
} numbers[] = {{"b*", JOIST_NODE_TRUTH, JOIST_BOOL},
               {"i*", JOIST_NODE_WEAK_INT, JOIST_NODE_WEAK_INT},
               {"f*", JOIST_NODE_WEAK_FLOAT, JOIST_NODE_WEAK_FLOAT},
               {"c*", JOIST_NODE_WEAK_COMPLEX, JOIST_NODE_WEAK_COMPLEX}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static SEXP told(const struct joist_rules *rules, int node) {
  for (int k = 0; k < NUMBERS; k++)
    if (node == numbers[k].told) return Rf_mkChar(numbers[k].name);
  return Rf_mkCharCE(joist_rules_node_name(rules, node), CE_UTF8);
}

static int answered_node(const struct joist_rules *rules, const char *name) {
  for (int k = 0; k < NUMBERS; k++)
    if (strcmp(name, numbers[k].name) == 0) return numbers[k].answered;
  return joist_rules_node(rules, name);
}

/* ask_rule() gives c(node, refusal), or nothing if the tables decide. False if R was interrupted.
 */
static bool ask_r(const struct joist_rules *rules, const struct asked *asked,
                  struct answer *answer) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)answer->count));
  for (size_t k = 0; k < answer->count; k++)
    SET_STRING_ELT(names, (R_xlen_t)k, told(rules, answer->nodes[k]));
  SEXP op = PROTECT(Rf_mkString(answer->op));
  SEXP call = PROTECT(Rf_lang5(Rf_install("ask_rule"), asked->function, op, names, asked->base));
  SEXP value = PROTECT(joist_r_try_eval(call));
  const bool answered = TYPEOF(value) == STRSXP;
  answer->node = UNDECIDED;
  if (answered && XLENGTH(value) == 2) {
    const char *const name = CHAR(STRING_ELT(value, 0));
    answer->node = answered_node(rules, name);
    snprintf(answer->refusal, sizeof answer->refusal, "%s", CHAR(STRING_ELT(value, 1)));
    if (answer->node == JOIST_NODE_NONE && answer->refusal[0] == '\0')
      snprintf(answer->refusal, sizeof answer->refusal,
               "it gives '%.40s', which is not a node of these rules", name);
  }
  UNPROTECT(4);
  return answered;
}

static bool give(const struct answer *answer, int *node, const char **refusal) {
  *node = answer->node;
  *refusal = answer->refusal;
  return answer->node != UNDECIDED;
}

static bool ask(const struct joist_rules *rules, const char *op, const uint8_t *nodes, size_t count,
                int *node, const char **refusal) {
  struct asked *const asked = rules->function->context;
  struct answer **const list = list_of(asked, op, nodes, count);
  for (const struct answer *known = *list; known != NULL; known = known->next)
    if (known->count == count && strcmp(known->op, op) == 0 &&
        memcmp(known->nodes, nodes, count) == 0)
      return give(known, node, refusal);
  *node = JOIST_NODE_NONE;
  struct answer *const answer = malloc(sizeof *answer + count);
  *refusal = "memory is out";
  if (answer == NULL) return true;
  *answer = (struct answer){.op = op, .count = count};
  memcpy(answer->nodes, nodes, count);
  if (ask_r(rules, asked, answer)) {
    answer->next = *list;
    *list = answer;
    return give(answer, node, refusal);
  }
  free(answer);
  *refusal = "it was interrupted";
  return true;
}

bool joist_r_rule_function(struct joist_rules *rules, SEXP text, SEXP function) {
  struct asked *const asked = calloc(1, sizeof *asked);
  if (asked == NULL) return false;
  R_PreserveObject(asked->function = function);
  R_PreserveObject(asked->base = Rf_ScalarString(text));
  Rf_setAttrib(asked->base, R_ClassSymbol, Rf_mkString("joist_rules"));
  asked->core = (struct joist_rule_function){.ask = ask, .context = asked};
  rules->function = &asked->core;
  return true;
}
