#include "sim/choice.h"

#include "model/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- strategies ------------------------------------------------------------------------------ */

/* ":3" at *text, as a number from 1 to `most`; nothing there leaves it as it is. */
static bool read_parameter(const char **text, uint32_t most, uint32_t *number)
{
    if (**text == '\0') {
        return true;
    }
    uint64_t value = 0;
    const char *at = *text + 1;
    for (; *at >= '0' && *at <= '9' && value <= most; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
    }
    bool right = **text == ':' && value >= 1 && value <= most;
    *number = (uint32_t)value;
    *text = at;
    return right;
}

bool choice_strategy_read(const char *text, struct choice_strategy *strategy)
{
    uint32_t depth = CHOICE_DEPTH_USUAL, length = 0;
    *strategy = (struct choice_strategy){0};
    if (strcmp(text, "random") == 0) {
        return true;
    }
    if (strncmp(text, "pct", 3) != 0) {
        return false;
    }
    text += 3;
    bool right = read_parameter(&text, CHOICE_DEPTH_MAX, &depth) &&
                 read_parameter(&text, CHOICE_LENGTH_MAX, &length) && *text == '\0';
    *strategy = (struct choice_strategy){.depth = (uint8_t)depth, .length = length};
    return right;
}

void choice_strategy_text(const struct choice_strategy *strategy, char text[CHOICE_STRATEGY_SIZE])
{
    if (strategy->depth == 0) {
        snprintf(text, CHOICE_STRATEGY_SIZE, "random");
    } else if (strategy->length != 0) {
        snprintf(text, CHOICE_STRATEGY_SIZE, "pct:%d:%" PRIu32, strategy->depth, strategy->length);
    } else if (strategy->depth != CHOICE_DEPTH_USUAL) {
        snprintf(text, CHOICE_STRATEGY_SIZE, "pct:%d", strategy->depth);
    } else {
        snprintf(text, CHOICE_STRATEGY_SIZE, "pct");
    }
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* A rate as a share of 2^32 draws. */
static uint64_t share(struct fault_rate rate)
{
    return rate.of == 0 ? 0 : ((uint64_t)rate.times << 32) / rate.of;
}

/* Swarm testing: half of the allowed kinds, at their full rate, a half, a quarter or an eighth. Two
 * draws a kind, needed or not, so that one more allowed kind leaves the others as they were. Kinds
 * that were added after the first catalogue draw from a stream of their own, so that runs without
 * them stay the same. Illegal moves, where they are allowed, are enabled in every run: otherwise
 * the 53 ways to attempt one would not all be met in a thousand runs. */
static void swarm(struct choice_source *source, const struct fault_plan *plan, uint64_t seed)
{
    uint64_t sum = 0;
    struct pcg later = pcg_stream(seed, PCG_SWARM);
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        struct pcg *stream = kind <= FAULT_ANSWER_CHANGED ? &source->faults : &later;
        bool on = pcg_chance(stream, 1, 2);
        uint32_t halvings = pcg_below(stream, 4);
        if (kind == FAULT_ILLEGAL_MOVE) {
            sum += share(plan->rate[kind]);
        } else if (on) {
            sum += share(plan->rate[kind]) >> halvings;
        }
        if (sum > UINT32_MAX) {
            sum = UINT32_MAX;
        }
        source->fault_below[kind] = (uint32_t)sum;
    }
    source->fault_any = (uint32_t)sum;
}

struct choice_source choice_random(uint64_t seed, const struct fault_plan *plan)
{
    struct choice_source source = {
        .seed = seed,
        .random_schedule = true,
        .random_faults = true,
        .schedule = pcg_stream(seed, PCG_SCHEDULE),
        .faults = pcg_stream(seed, PCG_FAULTS),
        .amounts = pcg_stream(seed, PCG_CLOCK),
        .stops = pcg_stream(seed, PCG_STOPS),
    };
    swarm(&source, plan, seed);
    /* Half of the seeds stop no transaction; the others one in 2, 4, 8 or 16. */
    if (pcg_chance(&source.stops, 1, 2)) {
        source.stops_below = UINT32_C(1) << (31 - pcg_below(&source.stops, 4));
    }
    return source;
}

/* A permutation above the priorities reserved for the change points, and the change points. */
struct choice_source choice_pct(uint64_t seed, const struct fault_plan *plan,
                                const struct choice_strategy *strategy, unsigned actors)
{
    struct choice_source source = choice_random(seed, plan);
    CHECK(strategy->depth >= 1 && strategy->depth <= CHOICE_DEPTH_MAX);
    CHECK(strategy->length > 0 && actors <= CHOICE_ACTORS_MAX);
    source.depth = strategy->depth;
    source.actors = (uint8_t)actors;
    for (uint32_t a = 0; a < actors; a++) {
        uint32_t with = pcg_below(&source.schedule, a + 1);
        source.priority[a] = source.priority[with];
        source.priority[with] = (uint8_t)(source.depth + a);
    }
    for (int i = 0; i + 1 < source.depth; i++) {
        source.falls_at[i] = pcg_below(&source.schedule, strategy->length);
    }
    return source;
}

void choice_settle(struct choice_source *source)
{
    source->depth = 0;
}

struct choice_source choice_listed(const struct choice_list *list)
{
    return (struct choice_source){.listed = list};
}

struct choice_source choice_swept(uint64_t seed, const struct choice_list *list)
{
    return (struct choice_source){
        .random_schedule = true, .schedule = pcg_stream(seed, PCG_SCHEDULE), .listed = list};
}

/* ---- lists ----------------------------------------------------------------------------------- */

static int choice_compare(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    if (a->why != b->why) {
        return a->why < b->why ? -1 : 1;
    }
    if (a->actor != b->actor) {
        return a->actor < b->actor ? -1 : 1;
    }
    return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

/* Where an item belongs among the first `count`, which are sorted: after those equal to it. */
static size_t choice_place_of(const struct choice_list *list, size_t count,
                              const struct choice *item)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (choice_compare(&list->items[middle], item) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Not qsort, whose order of equal items is the C library's own affair. Lists are mostly sorted
 * already, and then nothing moves. */
void choice_list_sort(struct choice_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct choice item = list->items[i];
        size_t at = choice_place_of(list, kept, &item);
        if (at > 0 && choice_compare(&list->items[at - 1], &item) == 0) {
            continue; /* the first stays */
        }
        memmove(&list->items[at + 1], &list->items[at], (kept - at) * sizeof item);
        list->items[at] = item;
        kept++;
    }
    list->count = kept;
}

static uint32_t look_up(const struct choice_list *list, enum choice_why why, unsigned actor,
                        uint32_t ordinal, uint32_t usual)
{
    if (list == NULL || list->count == 0) {
        return usual;
    }
    struct choice wanted = {.why = (uint8_t)why, .actor = (uint8_t)actor, .ordinal = ordinal};
    const struct choice *found =
        bsearch(&wanted, list->items, list->count, sizeof *list->items, choice_compare);
    return found == NULL ? usual : found->value;
}

static void record(struct choice_source *source, enum choice_why why, unsigned actor,
                   uint32_t ordinal, uint32_t value)
{
    struct choice_list *list = source->record;
    if (list == NULL) {
        return;
    }
    if (list->count == list->capacity) {
        list->overflowed = true;
        return;
    }
    list->items[list->count++] = (struct choice){
        .why = (uint8_t)why, .actor = (uint8_t)actor, .ordinal = ordinal, .value = value};
}

/* ---- choosing -------------------------------------------------------------------------------- */

static unsigned lowest(uint32_t able)
{
    return (unsigned)__builtin_ctz(able);
}

/* The lowest worker; the client, actor 0, if no worker can run: begun work is finished before new
 * work starts. */
static unsigned usual(uint32_t able)
{
    return lowest((able & ~UINT32_C(1)) != 0 ? able & ~UINT32_C(1) : able);
}

/* Mostly two or three: fewer iterations than a library call costs. */
static uint32_t count(uint32_t able)
{
    uint32_t bits = 0;
    for (; able != 0; able &= able - 1) {
        bits++;
    }
    return bits;
}

static unsigned nth(uint32_t able, uint32_t n)
{
    for (; n > 0; n--) {
        able &= able - 1;
    }
    return lowest(able);
}

/* The actor with the highest priority that can run; at a change point it drops to the lowest. */
static unsigned by_priority(struct choice_source *source, uint32_t turn, uint32_t able)
{
    unsigned highest = lowest(able);
    for (uint32_t rest = able; rest != 0; rest &= rest - 1) {
        unsigned actor = lowest(rest);
        highest = source->priority[actor] > source->priority[highest] ? actor : highest;
    }
    for (int i = 0; i + 1 < source->depth; i++) {
        if (source->falls_at[i] == turn) {
            source->priority[highest] = (uint8_t)i;
        }
    }
    return highest;
}

unsigned choice_who(struct choice_source *source, uint32_t turn, uint32_t able)
{
    CHECK(able != 0);
    unsigned actor;
    if (source->depth != 0) {
        actor = by_priority(source, turn, able);
    } else if (source->random_schedule) {
        bool one = (able & (able - 1)) == 0; /* then there is nothing to draw */
        actor = one ? lowest(able) : nth(able, pcg_below(&source->schedule, count(able)));
    } else {
        actor = look_up(source->listed, CHOICE_WHO, 0, turn, usual(able));
        if (actor >= 32 || (able >> actor & 1) == 0) {
            actor = usual(able); /* an edited list may name an actor that cannot run */
        }
    }
    if (actor != usual(able)) {
        record(source, CHOICE_WHO, 0, turn, actor);
    }
    return actor;
}

/* An actor stopped half-way would otherwise go on at once, having the highest priority. */
static void change_places(struct choice_source *source, unsigned actor)
{
    uint32_t with = pcg_below(&source->schedule, source->actors);
    uint8_t priority = source->priority[actor];
    source->priority[actor] = source->priority[with];
    source->priority[with] = priority;
}

void choice_join(struct choice_source *source, unsigned actor)
{
    CHECK(actor < CHOICE_ACTORS_MAX);
    source->priority[actor] = 0;
    if (source->depth != 0) {
        change_places(source, actor);
    }
}

static enum fault_kind draw_fault(struct choice_source *source)
{
    uint32_t draw = pcg_next(&source->faults);
    if (draw >= source->fault_any) {
        return FAULT_NONE;
    }
    int kind = FAULT_NONE + 1;
    while (draw >= source->fault_below[kind]) {
        kind++;
    }
    return (enum fault_kind)kind;
}

enum fault_kind choice_fault(struct choice_source *source, unsigned actor, uint32_t ordinal)
{
    enum fault_kind kind;
    if (source->random_faults) {
        kind = draw_fault(source);
    } else {
        uint32_t value = look_up(source->listed, CHOICE_FAULT, actor, ordinal, FAULT_NONE);
        kind = value < FAULT_KIND_COUNT ? (enum fault_kind)value : FAULT_NONE;
    }
    return kind;
}

void choice_took(struct choice_source *source, unsigned actor, uint32_t ordinal,
                 enum fault_kind kind)
{
    record(source, CHOICE_FAULT, actor, ordinal, (uint32_t)kind);
}

uint32_t choice_amount(struct choice_source *source, unsigned actor, uint32_t ordinal,
                       uint32_t bound)
{
    CHECK(bound > 0);
    uint32_t amount = source->random_faults
                          ? pcg_below(&source->amounts, bound)
                          : look_up(source->listed, CHOICE_AMOUNT, actor, ordinal, 0) % bound;
    if (amount != 0) {
        record(source, CHOICE_AMOUNT, actor, ordinal, amount);
    }
    return amount;
}

uint32_t choice_stop(struct choice_source *source, unsigned actor, uint32_t ordinal,
                     uint32_t length)
{
    uint32_t stop = 0;
    if (!source->random_faults) {
        stop = look_up(source->listed, CHOICE_STOP, actor, ordinal, 0);
        stop = stop < length ? stop : length;
    } else if (source->stops_below != 0 && pcg_next(&source->stops) < source->stops_below) {
        stop = 1 + pcg_below(&source->stops, length);
    }
    if (stop != 0 && source->depth != 0) {
        change_places(source, actor);
    }
    if (stop != 0) {
        record(source, CHOICE_STOP, actor, ordinal, stop);
    }
    return stop;
}

/* ---- checking -------------------------------------------------------------------------------- */

static void check_list(const struct choice_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        CHECK(choice_compare(&list->items[i - 1], &list->items[i]) < 0); /* CO2 */
    }
}

void choice_check(const struct choice_source *source)
{
    uint32_t below = 0;
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        CHECK(source->fault_below[kind] >= below); /* CO3 */
        below = source->fault_below[kind];
    }
    CHECK(source->fault_any == below); /* CO3 */
    CHECK(source->depth <= CHOICE_DEPTH_MAX && source->actors <= CHOICE_ACTORS_MAX);
    if (source->listed != NULL) {
        check_list(source->listed);
    }
}
