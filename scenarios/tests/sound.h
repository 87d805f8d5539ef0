/* (SN1) once more, and independently of the loader: what is wrong with a scenario that was loaded,
 * NULL if nothing is. */
#ifndef SCENARIOS_TESTS_SOUND_H
#define SCENARIOS_TESTS_SOUND_H

#include "scenarios/scenario.h"

#include <string.h>

#define SOUND(claim)                                                                               \
    if (!(claim)) {                                                                                \
        return #claim;                                                                             \
    }

static inline bool sound_name(const char *name, size_t size)
{
    size_t length = strnlen(name, size);
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.') {
            return false;
        }
    }
    return length > 0 && length < size;
}

static inline const char *sound_numbers(const struct scenario *s)
{
    SOUND(sound_name(s->name, sizeof s->name));
    SOUND(strnlen(s->about, sizeof s->about) < sizeof s->about);
    SOUND(protocol_place(s->protocol) < protocol_count());
    SOUND(s->jobs >= 1 && s->jobs <= SCENARIO_JOBS_MAX);
    SOUND(s->workers >= 1 && s->workers <= SCENARIO_WORKERS_MAX);
    SOUND(s->threshold_count >= 1 && s->threshold_count <= SCENARIO_THRESHOLDS_MAX);
    for (size_t i = 0; i < s->threshold_count; i++) {
        SOUND(s->thresholds[i] >= -1000000 && s->thresholds[i] <= 1000000);
    }
    SOUND(s->timeout >= 1 && s->timeout <= 1000000);
    SOUND(s->text_size <= SCENARIO_TEXT_SIZE_MAX);
    return NULL;
}

/* (GR3), and that every field is in range. */
static inline const char *sound_edges(const struct graph *g)
{
    uint32_t next = 0;
    SOUND(g->node_count >= 1 && g->node_count <= GRAPH_NODES_MAX);
    SOUND(g->edge_count <= GRAPH_EDGES_MAX);
    for (uint32_t node = 0; node < g->node_count; node++) {
        const struct graph_node *n = &g->nodes[node];
        uint32_t by_answer[GRAPH_PENDINGS_MAX + 1] = {0};
        SOUND(sound_name(n->name, sizeof n->name));
        SOUND(n->pendings <= GRAPH_PENDINGS_MAX);
        SOUND(n->preset_leg1 >= 0 && n->preset_leg1 <= 999);
        SOUND(n->preset_leg2 >= 0 && n->preset_leg2 <= 99999999);
        SOUND(n->first_edge == next && next + n->edge_count <= g->edge_count);
        for (; next < (uint32_t)n->first_edge + n->edge_count; next++) {
            const struct graph_edge *e = &g->edges[next];
            SOUND(e->from == node && e->to < g->node_count);
            SOUND(e->answer <= n->pendings);
            SOUND(++by_answer[e->answer] <= GRAPH_CHILDREN_MAX);
            SOUND(e->condition <= GRAPH_IF_ODD);
            SOUND(e->rounds <= GRAPH_ROUNDS_MAX);
            SOUND(e->rounds == 0 || e->answer == 0);
        }
    }
    SOUND(next == g->edge_count);
    return NULL;
}

/* (GR1): without cycles it is a tree, numbered breadth-first, so edges lead to 1, 2, 3, ... */
static inline const char *sound_tree(const struct graph *g)
{
    uint32_t next = 1;
    for (uint32_t i = 0; i < g->edge_count; i++) {
        if (g->edges[i].rounds == 0) {
            SOUND(g->edges[i].to == next);
            SOUND(g->edges[i].from < next);
            next++;
        }
    }
    SOUND(next == g->node_count);
    return NULL;
}

/* (GR2): from where a cycle begins upward, its head is the first node that is one. */
static inline const char *sound_cycles(const struct graph *g)
{
    bool heads[GRAPH_NODES_MAX] = {false};
    uint16_t parent[GRAPH_NODES_MAX] = {0};
    for (uint32_t i = 0; i < g->edge_count; i++) {
        const struct graph_edge *e = &g->edges[i];
        if (e->rounds > 0) {
            heads[e->to] = true;
        } else {
            parent[e->to] = e->from;
        }
    }
    for (uint32_t i = 0; i < g->edge_count; i++) {
        uint16_t at = g->edges[i].from;
        while (g->edges[i].rounds > 0 && at != 0 && !heads[at]) {
            at = parent[at];
        }
        SOUND(g->edges[i].rounds == 0 || at == g->edges[i].to);
    }
    for (uint32_t node = 0; node < g->node_count; node++) {
        SOUND(heads[node] == g->nodes[node].heads_cycle);
    }
    return NULL;
}

#define SOUND_MANY (UINT64_C(1) << 40)

/* Activities of a job, not by walking as graph_activities() does but by adding up: below[r][n] is
 * what lies below node n in round r; children have higher numbers, and a cycle a higher round. */
static inline uint64_t sound_activities(const struct graph *g)
{
    static uint64_t below[GRAPH_ROUNDS_MAX + 2][GRAPH_NODES_MAX];
    memset(below, 0, sizeof below);
    for (int round = GRAPH_ROUNDS_MAX; round >= 0; round--) {
        for (uint32_t node = g->node_count; node-- > 0;) {
            uint64_t sum = 0;
            for (uint32_t i = 0; i < g->nodes[node].edge_count; i++) {
                const struct graph_edge *e = &g->edges[g->nodes[node].first_edge + i];
                bool round_left = round < e->rounds;
                sum += e->rounds == 0 ? 1 + below[round][e->to]
                       : round_left   ? below[round + 1][e->to]
                                      : 0;
            }
            below[round][node] = sum < SOUND_MANY ? sum : SOUND_MANY;
        }
    }
    return 1 + below[0][0];
}

static inline const char *sound_plan(const struct fault_plan *plan)
{
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        SOUND(plan->rate[kind].of >= 1 && plan->rate[kind].of <= 1000000);
        SOUND(plan->rate[kind].times <= plan->rate[kind].of);
    }
    for (int group = 0; group < FAULT_GROUP_COUNT; group++) {
        SOUND(plan->budget[group] <= 1000000);
    }
    SOUND(plan->rate[FAULT_NONE].times == 0 && plan->budget[FAULT_GROUP_NONE] == 0);
    return NULL;
}

static inline bool sound_broken(enum clause_id clause)
{
    enum clause_kind kind = clause_get(clause)->kind;
    return kind == CLAUSE_KIND_LIMIT || kind == CLAUSE_KIND_SAFE || kind == CLAUSE_KIND_LIVE ||
           kind == CLAUSE_KIND_PATH;
}

static inline const char *sound_clauses(const struct scenario *s)
{
    bool seen[CLAUSE_COUNT] = {false};
    SOUND(s->reaches_count <= SCENARIO_REACHES_MAX);
    for (size_t i = 0; i < s->reaches_count; i++) {
        SOUND((size_t)s->reaches[i] < CLAUSE_COUNT && !seen[s->reaches[i]]);
        seen[s->reaches[i]] = true;
        SOUND(clause_get(s->reaches[i])->kind != CLAUSE_KIND_GOLDEN);
    }
    SOUND(!s->breaks || sound_broken(s->broken));
    SOUND(s->also_count <= (s->breaks ? SCENARIO_ALSO_MAX : 0));
    for (size_t i = 0; i < s->also_count; i++) {
        SOUND(sound_broken(s->also[i]) && s->also[i] != s->broken);
    }
    return NULL;
}

static inline const char *sound_fault(const struct scenario *s)
{
    const char *fault = sound_numbers(s);
    bool has_graph =
        s->protocol == protocol_find("activity") || s->protocol == protocol_find("legacy");
    fault = fault != NULL || !has_graph ? fault : sound_edges(&s->graph);
    fault = fault != NULL || !has_graph ? fault : sound_tree(&s->graph);
    fault = fault != NULL || !has_graph ? fault : sound_cycles(&s->graph);
    fault = fault != NULL ? fault : sound_plan(&s->faults);
    fault = fault != NULL ? fault : sound_clauses(s);
    if (fault == NULL && has_graph) {
        SOUND(sound_activities(&s->graph) * s->jobs <= SCENARIO_ACTIVITIES_MAX);
    }
    return fault;
}

#endif
