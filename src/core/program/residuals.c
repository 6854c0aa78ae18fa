/* A minimum cut of the graph of an iteration, whose nodes are values that weigh their bytes: it
 * separates the states and the results of expensive operations from what derivatives read. The way
 * of Ford and Fulkerson, along shortest paths. */
#include "core/program/residuals.h"

#include <stdlib.h>
#include <string.h>

#include "core/program/regions.h"
#include "core/types/error.h"

/* ---- what is expensive ---- */

enum cost { CHEAP, EXPONENTIAL, FUNCTION, WHOLE_ARRAY, LOOP, COSTS };

static enum cost cost_of(const struct joist_instruction *i) {
  if (i->again) return CHEAP;
  if (i->region_count > 0) return LOOP;
  const joist_work work = joist_op_work(i->op);
  /* Reading the kept result of a gather takes as long as gathering again. */
  if (work == JOIST_WORK_MOVE || i->op == JOIST_OP_GATHER) return CHEAP;
  if (joist_op_is_array(i->op) || joist_op_is_reduction(i->op)) return WHOLE_ARRAY;
  /* These take about as long as it takes to keep their results. */
  if (i->op == JOIST_OP_EXP || i->op == JOIST_OP_LOG) return EXPONENTIAL;
  return work == JOIST_WORK_FUNCTION ? FUNCTION : CHEAP;
}

/* Which costs count, from the most memory to the least. */
static const bool tries[][COSTS] = {
    {[EXPONENTIAL] = true, [FUNCTION] = true, [WHOLE_ARRAY] = true, [LOOP] = true},
    {[FUNCTION] = true, [WHOLE_ARRAY] = true, [LOOP] = true},
    {[WHOLE_ARRAY] = true, [LOOP] = true},
    {[FUNCTION] = true, [WHOLE_ARRAY] = true},
    {[WHOLE_ARRAY] = true},
    {false}};
enum { TRIES = sizeof tries / sizeof *tries };

/* ---- the graph ---- */

/* An edge of the graph and, in the place whose number differs in the last bit, the same backward.
 */
struct edge {
  uint32_t to;
  uint32_t next; /* of the same node: 1 + its number, 0 for none */
  size_t rest;   /* how much more can flow */
};

/* Two nodes per value, before and after its weight, then the source and the sink. */
struct graph {
  struct edge *edges;
  uint32_t *first;          /* per node: 1 + the number of an edge */
  uint32_t *came_by, *line; /* per node: the edge on a path, or NOT_MET; nodes to look at */
  uint32_t edge_count, node_count;
};

#define NOT_MET UINT32_MAX

static uint32_t before(joist_value_id v) { return 2 * v; }
static uint32_t after(joist_value_id v) { return 2 * v + 1; }
static uint32_t source_of(const struct graph *graph) { return graph->node_count - 2; }
static uint32_t sink_of(const struct graph *graph) { return graph->node_count - 1; }

static void add_edge(struct graph *graph, uint32_t from, uint32_t to, size_t weight) {
  const uint32_t nodes[2] = {from, to};
  for (int way = 0; way < 2; way++) {
    const uint32_t number = graph->edge_count++;
    graph->edges[number] =
        (struct edge){nodes[1 - way], graph->first[nodes[way]], way == 0 ? weight : 0};
    graph->first[nodes[way]] = number + 1;
  }
}

/* Finds the nodes that something can flow to from `start` or, `backward`, from which something can
 * flow to it; until it finds `end`. */
static bool search(struct graph *graph, uint32_t start, uint32_t end, bool backward) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < graph->node_count; n++) graph->came_by[n] = NOT_MET;
  graph->came_by[start] = graph->edge_count;
  graph->line[count++] = start;
  for (uint32_t k = 0; k < count && graph->came_by[end] == NOT_MET; k++)
    for (uint32_t e = graph->first[graph->line[k]]; e > 0; e = graph->edges[e - 1].next) {
      const uint32_t to = graph->edges[e - 1].to, other = (e - 1) ^ 1;
      if (graph->came_by[to] != NOT_MET || graph->edges[backward ? other : e - 1].rest == 0)
        continue;
      graph->came_by[to] = e - 1;
      graph->line[count++] = to;
    }
  return graph->came_by[end] != NOT_MET;
}

/* Sends as much as possible along the path that was found. */
static void augment(struct graph *graph) {
  size_t most = SIZE_MAX;
  for (uint32_t n = sink_of(graph); n != source_of(graph);
       n = graph->edges[graph->came_by[n] ^ 1].to)
    if (graph->edges[graph->came_by[n]].rest < most) most = graph->edges[graph->came_by[n]].rest;
  for (uint32_t n = sink_of(graph); n != source_of(graph);
       n = graph->edges[graph->came_by[n] ^ 1].to) {
    graph->edges[graph->came_by[n]].rest -= most;
    graph->edges[graph->came_by[n] ^ 1].rest += most;
  }
}

/* ---- choosing ---- */

static bool is_forward(const struct joist_residual_body *body, joist_value_id v) {
  const struct joist_value *const value = &body->program->values[v];
  return value->input != JOIST_NO_INPUT || value->instruction < body->forward;
}

/* Sets the flags of values of the iteration that the derivatives read. `needed` is scratch. */
static void find_read(const struct joist_residual_body *body, bool *needed, bool *read) {
  const struct joist_program *const program = body->program;
  memset(needed, 0, program->value_count * sizeof *needed);
  for (uint32_t k = 0; k < program->output_count; k++) needed[program->outputs[k]] = true;
  for (uint32_t k = program->instruction_count; k-- > body->forward;) {
    const struct joist_instruction *const i = &program->instructions[k];
    bool any = joist_has_effect(i);
    for (uint32_t r = 0; r < i->result_count; r++) any |= needed[i->result + r];
    for (uint32_t a = 0; a < i->operand_count && any; a++) needed[i->operand[a]] = true;
  }
  for (uint32_t v = 0; v < program->value_count; v++) read[v] = needed[v] && is_forward(body, v);
}

static void build(const struct joist_residual_body *body, const bool *read, const bool *counts,
                  struct graph *graph) {
  const size_t infinite = SIZE_MAX / 2;
  const struct joist_program *const program = body->program;
  graph->edge_count = 0;
  memset(graph->first, 0, graph->node_count * sizeof *graph->first);
  for (uint32_t v = 0; v < program->value_count; v++) {
    if (!is_forward(body, v)) continue;
    /* One more than its bytes: of as many bytes, the fewest values. */
    add_edge(graph, before(v), after(v), joist_value_bytes(&program->values[v]) + 1);
    if (read[v]) add_edge(graph, after(v), sink_of(graph), infinite);
  }
  for (uint32_t k = 0; k < body->state_count; k++)
    add_edge(graph, source_of(graph), before(body->states[k]), infinite);
  for (uint32_t k = 0; k < body->forward; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    for (uint32_t r = 0; r < i->result_count; r++) {
      if (counts[cost_of(i)]) {
        add_edge(graph, source_of(graph), before(i->result + r), infinite);
        continue;
      }
      for (uint32_t a = 0; a < i->operand_count; a++)
        add_edge(graph, after(i->operand[a]), before(i->result + r), infinite);
    }
  }
}

/* The cut next to what is read, and its bytes. */
static size_t cut(const struct joist_program *program, struct graph *graph, bool *kept) {
  size_t bytes = 0;
  while (search(graph, source_of(graph), sink_of(graph), false)) augment(graph);
  (void)search(graph, sink_of(graph), source_of(graph), true);
  for (uint32_t v = 0; v < program->value_count; v++) {
    kept[v] = graph->came_by[after(v)] != NOT_MET && graph->came_by[before(v)] == NOT_MET;
    if (kept[v]) bytes += joist_value_bytes(&program->values[v]);
  }
  return bytes;
}

static size_t most_edges(const struct joist_residual_body *body) {
  size_t count = 2 * (size_t)body->program->value_count + body->state_count;
  for (uint32_t k = 0; k < body->forward; k++) {
    const struct joist_instruction *const i = &body->program->instructions[k];
    count += (size_t)i->result_count * (i->operand_count + 1);
  }
  return 2 * count;
}

joist_status joist_residuals_choose(const struct joist_residual_body *body, bool *kept,
                                    struct joist_error *error) {
  const uint32_t values = body->program->value_count;
  struct graph graph = {.node_count = 2 * values + 2};
  graph.edges = malloc((most_edges(body) + 1) * sizeof *graph.edges);
  graph.first = malloc(3 * (size_t)graph.node_count * sizeof *graph.first);
  bool *const read = malloc(2 * (size_t)values + 1);
  const bool memory = graph.edges != NULL && graph.first != NULL && read != NULL;
  if (memory) {
    graph.came_by = graph.first + graph.node_count;
    graph.line = graph.came_by + graph.node_count;
    find_read(body, read + values, read);
    size_t bytes = SIZE_MAX, last;
    int k = -1;
    do {
      last = bytes;
      build(body, read, tries[++k], &graph);
      bytes = cut(body->program, &graph, kept);
    } while (k + 1 < TRIES && bytes > (k == 0 ? body->few : body->limit));
    if (k == 1 && bytes == last) { /* which spares no bytes */
      build(body, read, tries[0], &graph);
      (void)cut(body->program, &graph, kept);
    }
  }
  free(graph.edges);
  free(graph.first);
  free(read);
  return memory ? JOIST_OK : JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
}
