#include "model/check.h"
#include "scenarios/pcg.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>

static bool same(struct pcg a, struct pcg b)
{
    return a.state == b.state && a.increment == b.increment;
}

/* ---- published known answers (PG3) ---------------------------------------------------------- */

/* The first round of pcg32-demo, as pcg-c publishes it in test-high/expected/check-pcg32.out. Its
 * line "Again" is left out: it steps back and draws the first line once more. */
static const char demo_published[] =
    "  32bit: 0xa15c02b7 0x7b47f409 0xba1d3330 0x83d2f293 0xbfa4784b 0xcbed606e\n"
    "  Coins: HHTTTHTHHHTHTTTHHHHHTTTHHHTHTHTHTTHTTTHHHHHHTTTTHHTTTTTHTTTTTTTHT\n"
    "  Rolls: 3 4 1 1 2 2 3 2 4 3 2 4 3 3 5 2 3 1 3 1 5 1 4 1 5 6 4 6 6 2 6 3 3\n"
    "  Cards: Qd Ks 6d 3s 3d 4c 3h Td Kc 5c Jh Kd Jd As 4s 4h Ad Th Ac Jc 7s Qs\n"
    "\t 2s 7h Kh 2d 6c Ah 4d Qh 9h 6s 5s 2c 9c Ts 8d 9s 3c 8c Js 5d 2h 6h\n"
    "\t 7d 8s 9d 5h 8h Qc 7c Tc\n";

struct page {
    char text[1024];
    size_t used;
};

static void put(struct page *page, const char *text)
{
    for (; *text != '\0'; text++) {
        cr_assert_lt(page->used + 1, sizeof page->text);
        page->text[page->used++] = *text;
    }
}

static void put_one_of(struct page *page, const char *characters, uint32_t which)
{
    put(page, (char[]){characters[which], '\0'});
}

static void put_hex(struct page *page, uint32_t number)
{
    for (int shift = 28; shift >= 0; shift -= 4) {
        put_one_of(page, "0123456789abcdef", number >> shift & 15);
    }
}

static void deal_cards(struct pcg *pcg, struct page *page)
{
    enum { CARDS = 52, SUITS = 4, A_LINE = 22 };
    unsigned cards[CARDS];
    for (unsigned i = 0; i < CARDS; i++) {
        cards[i] = i;
    }
    for (uint32_t left = CARDS; left > 1; left--) {
        uint32_t chosen = pcg_below(pcg, left);
        unsigned card = cards[chosen];
        cards[chosen] = cards[left - 1];
        cards[left - 1] = card;
    }
    for (unsigned i = 0; i < CARDS; i++) {
        put(page, " ");
        put_one_of(page, "A23456789TJQK", cards[i] / SUITS);
        put_one_of(page, "hcds", cards[i] % SUITS);
        if ((i + 1) % A_LINE == 0) {
            put(page, "\n\t");
        }
    }
}

Test(pcg, demo_round_is_the_published_one)
{
    struct pcg pcg = pcg_seed(42, 54);
    struct page page = {.used = 0};
    put(&page, "  32bit:");
    for (int i = 0; i < 6; i++) {
        put(&page, " 0x");
        put_hex(&page, pcg_next(&pcg));
    }
    put(&page, "\n  Coins: ");
    for (int i = 0; i < 65; i++) {
        put_one_of(&page, "TH", pcg_below(&pcg, 2));
    }
    put(&page, "\n  Rolls:");
    for (int i = 0; i < 33; i++) {
        put(&page, " ");
        put_one_of(&page, "123456", pcg_below(&pcg, 6));
    }
    put(&page, "\n  Cards:");
    deal_cards(&pcg, &page);
    put(&page, "\n");
    cr_assert_str_eq(page.text, demo_published);
}

Test(pcg, highest_bit_of_the_sequence_has_no_effect)
{
    cr_assert(same(pcg_seed(7, 5), pcg_seed(7, 5 | UINT64_C(1) << 63)));
    cr_assert_not(same(pcg_seed(7, 5), pcg_seed(7, 5 | UINT64_C(1) << 62)));
}

/* ---- pcg_below (PG4) ------------------------------------------------------------------------ */

/* A generator whose next output is this one: the output function run backwards, with no rotation
 * and the low bits, which it drops, zero. */
static struct pcg about_to_give(uint32_t output)
{
    uint64_t folded = (uint64_t)output << 27;
    struct pcg pcg = pcg_seed(0, 0);
    pcg.state = folded ^ (folded >> 18) ^ (folded >> 36) ^ (folded >> 54);
    return pcg;
}

static bool below_rejects(uint32_t output, uint32_t bound)
{
    struct pcg pcg = about_to_give(output), one_on = pcg;
    pcg_next(&one_on);
    uint32_t drawn = pcg_below(&pcg, bound);
    cr_assert_lt(drawn, bound);
    if (same(pcg, one_on)) {
        cr_assert_eq(drawn, output % bound);
        return false;
    }
    return true;
}

/* Of the 2^32 equally likely outputs exactly the lowest, 2^32 mod bound of them, are drawn again.
 * The rest is an interval whose length is a multiple of bound, and is taken modulo bound: every
 * result has equally many outputs. */
Test(pcg, below_rejects_exactly_what_would_bias_it)
{
    static const uint32_t bounds[] = {
        1,          2,          3,          5,          6,          7,          10,
        52,         1000,       65535,      65536,      65537,      0x7fffffff, 0x80000000,
        0x80000001, 0xbfffffff, 0xc0000000, 0xfffffffe, 0xffffffff,
    };
    for (size_t i = 0; i < COUNT(bounds); i++) {
        uint32_t surplus = (uint32_t)((UINT64_C(1) << 32) % bounds[i]);
        cr_assert(surplus == 0 || below_rejects(0, bounds[i]));
        cr_assert(surplus == 0 || below_rejects(surplus / 2, bounds[i]));
        cr_assert(surplus == 0 || below_rejects(surplus - 1, bounds[i]));
        cr_assert_not(below_rejects(surplus, bounds[i]));
        cr_assert_not(below_rejects(surplus + (UINT32_MAX - surplus) / 2, bounds[i]));
        cr_assert_not(below_rejects(UINT32_MAX, bounds[i]));
    }
}

Test(pcg, about_to_give_forges_any_output)
{
    struct pcg outputs = pcg_seed(1, 1);
    for (int i = 0; i < 10000; i++) {
        uint32_t output = pcg_next(&outputs);
        struct pcg forged = about_to_give(output);
        cr_assert_eq(pcg_next(&forged), output);
    }
}

/* Without rejection the bound 3 * 2^30 gives its lowest third twice as often as the others. */
Test(pcg, below_is_even_by_chi_square)
{
    enum { A_CELL = 10000, MAX_CELLS = 52 };
    static const struct {
        uint32_t bound, width; /* cell i counts the results in [i * width, (i + 1) * width) */
        uint64_t limit;        /* of chi-square: 99.9 % of even generators stay below */
    } cases[] = {
        {2, 1, 11}, {3, 1, 14}, {6, 1, 21}, {52, 1, 88}, {0xc0000000, 0x40000000, 14},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct pcg pcg = pcg_stream(c, PCG_SCHEDULE);
        uint32_t cells = cases[c].bound / cases[c].width;
        uint64_t counts[MAX_CELLS] = {0};
        for (uint32_t i = 0; i < cells * A_CELL; i++) {
            counts[pcg_below(&pcg, cases[c].bound) / cases[c].width]++;
        }
        uint64_t squares = 0;
        for (uint32_t i = 0; i < cells; i++) {
            uint64_t off = counts[i] > A_CELL ? counts[i] - A_CELL : A_CELL - counts[i];
            squares += off * off;
        }
        cr_assert_lt(squares, cases[c].limit * A_CELL, "bound %u", (unsigned)cases[c].bound);
    }
}

Test(pcg, below_one_is_zero_and_takes_one_output)
{
    struct pcg drawn = pcg_seed(3, 4), one_on = drawn;
    cr_assert_eq(pcg_below(&drawn, 1), 0);
    pcg_next(&one_on);
    cr_assert(same(drawn, one_on));
}

/* ---- pcg_chance (PG5) ----------------------------------------------------------------------- */

static const uint32_t denominators[] = {1, 2, 3, 1000, 1000000, 0x80000001, 0xffffffff};

Test(pcg, chance_of_none_is_never_and_of_all_is_always)
{
    for (size_t i = 0; i < COUNT(denominators); i++) {
        struct pcg pcg = pcg_stream(i, PCG_FAULTS);
        for (int draw = 0; draw < 10000; draw++) {
            cr_assert_not(pcg_chance(&pcg, 0, denominators[i]));
            cr_assert(pcg_chance(&pcg, denominators[i], denominators[i]));
        }
    }
}

Test(pcg, chance_takes_what_one_draw_below_takes_whatever_the_numerator)
{
    for (size_t i = 0; i < COUNT(denominators); i++) {
        uint32_t of = denominators[i];
        struct pcg off = pcg_stream(i, PCG_FAULTS), rare = off, even = off, certain = off;
        struct pcg below = off;
        for (int draw = 0; draw < 1000; draw++) {
            uint32_t drawn = pcg_below(&below, of);
            cr_assert_eq(pcg_chance(&off, 0, of), false);
            cr_assert_eq(pcg_chance(&rare, 1, of), drawn < 1);
            cr_assert_eq(pcg_chance(&even, of / 2, of), drawn < of / 2);
            cr_assert_eq(pcg_chance(&certain, of, of), true);
            cr_assert(same(off, below) && same(rare, below));
            cr_assert(same(even, below) && same(certain, below));
        }
    }
}

/* ---- streams (PG2, PG6) ---------------------------------------------------------------------- */

/* A change of these numbers changes every recorded run: raise PCG_VERSION. */
Test(pcg, streams_of_version_1_are_pinned)
{
    static const struct {
        uint64_t seed;
        enum pcg_concern concern;
        uint32_t outputs[3];
    } pinned[] = {
        {0, PCG_SCHEDULE, {0x7058d2d5, 0xb3256858, 0x8fd9b177}},
        {0, PCG_FAULTS, {0x0e0988de, 0x6e4cd49a, 0x2e687946}},
        {0, PCG_WORKLOAD, {0x14b577e3, 0x59865ed6, 0x135137f7}},
        {0, PCG_CLOCK, {0x7e8d5669, 0x372b182f, 0xbe2d9d24}},
        {1, PCG_SCHEDULE, {0xe0ec36dd, 0xaf226cd2, 0x9a3dc231}},
        {1, PCG_FAULTS, {0x6ab934ff, 0x08eccc48, 0x09d8cc84}},
        {1, PCG_WORKLOAD, {0x877d30ab, 0xc99a4635, 0x280f3b71}},
        {1, PCG_CLOCK, {0x9be43cd9, 0x08ee12a4, 0x66b999e1}},
        {42, PCG_SCHEDULE, {0x968a8e29, 0x0163d867, 0xb8a1c905}},
        {42, PCG_FAULTS, {0xb90aa540, 0xc18b1cf0, 0x495ecee1}},
        {42, PCG_WORKLOAD, {0x32feaa9d, 0xe46125c6, 0x7b201326}},
        {42, PCG_CLOCK, {0xa364d889, 0x3ce191ea, 0xf32961c0}},
        {UINT64_MAX, PCG_SCHEDULE, {0xa7a3c0de, 0x0191d5b1, 0xfb59feb8}},
        {UINT64_MAX, PCG_FAULTS, {0x230a8362, 0x994e0412, 0x2c4699bd}},
        {UINT64_MAX, PCG_WORKLOAD, {0x467c38fc, 0xf00d30d4, 0x43ec35c8}},
        {UINT64_MAX, PCG_CLOCK, {0x1602be25, 0xb434dd30, 0x840fb17f}},
    };
    cr_assert_eq(PCG_VERSION, 1);
    for (size_t i = 0; i < COUNT(pinned); i++) {
        struct pcg pcg = pcg_stream(pinned[i].seed, pinned[i].concern);
        for (size_t n = 0; n < COUNT(pinned[i].outputs); n++) {
            cr_assert_eq(pcg_next(&pcg), pinned[i].outputs[n]);
        }
    }
}

enum { SEEDS = 256, OUTPUTS = 1000, STREAMS = SEEDS * PCG_CONCERN_COUNT };

/* Half consecutive, half in steps of splitmix64: the steps that would defeat its use unmixed. */
static uint64_t nth_seed(unsigned n)
{
    return n % 2 == 0 ? n / 2 : (n / 2 + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static struct pcg nth_stream(unsigned n)
{
    return pcg_stream(nth_seed(n / PCG_CONCERN_COUNT), (enum pcg_concern)(n % PCG_CONCERN_COUNT));
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool all_differ(uint64_t *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    for (size_t i = 1; i < n; i++) {
        if (values[i - 1] == values[i]) {
            return false;
        }
    }
    return true;
}

Test(pcg, streams_never_share_a_sequence)
{
    static uint64_t increments[STREAMS];
    for (unsigned n = 0; n < STREAMS; n++) {
        increments[n] = nth_stream(n).increment;
    }
    cr_assert(all_differ(increments, STREAMS));
}

/* Two outputs in a row, as 64 bits, occur once in all streams together: no stream coincides with
 * another, or with itself, at any shift. By chance that fails once in 30 million. */
Test(pcg, streams_do_not_coincide_at_any_shift)
{
    static uint64_t in_a_row[STREAMS * (OUTPUTS - 1)];
    size_t filled = 0;
    for (unsigned n = 0; n < STREAMS; n++) {
        struct pcg pcg = nth_stream(n);
        uint64_t last = pcg_next(&pcg);
        for (int i = 1; i < OUTPUTS; i++) {
            uint32_t drawn = pcg_next(&pcg);
            in_a_row[filled++] = last << 32 | drawn;
            last = drawn;
        }
    }
    cr_assert(all_differ(in_a_row, filled));
}

static unsigned bits_set(uint32_t bits)
{
    unsigned count = 0;
    for (; bits != 0; bits &= bits - 1) {
        count++;
    }
    return count;
}

/* Neighbours: another concern of one seed, one concern of two far seeds, and of two consecutive
 * ones. Unrelated streams agree in half of their 32000 bits, give or take 89 (one sigma). */
Test(pcg, neighbouring_streams_agree_in_half_of_their_bits)
{
    enum { HALF = OUTPUTS * 16, FIVE_SIGMA = 447 };
    static const unsigned distances[] = {1, PCG_CONCERN_COUNT, 2 * PCG_CONCERN_COUNT};
    for (size_t d = 0; d < COUNT(distances); d++) {
        for (unsigned n = distances[d]; n < STREAMS; n++) {
            struct pcg left = nth_stream(n - distances[d]), right = nth_stream(n);
            unsigned differing = 0;
            for (int i = 0; i < OUTPUTS; i++) {
                differing += bits_set(pcg_next(&left) ^ pcg_next(&right));
            }
            cr_assert(differing > HALF - FIVE_SIGMA && differing < HALF + FIVE_SIGMA,
                      "streams %u and %u differ in %u bits", n - distances[d], n, differing);
        }
    }
}

Test(pcg, drawing_from_one_stream_does_not_alter_another)
{
    struct pcg alone = pcg_stream(9, PCG_SCHEDULE), among = alone;
    struct pcg others[] = {
        pcg_stream(9, PCG_FAULTS),
        pcg_stream(9, PCG_WORKLOAD),
        pcg_stream(9, PCG_CLOCK),
    };
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        for (size_t o = 0; o < COUNT(others); o++) {
            pcg_below(&others[o], i + 1);
        }
        cr_assert_eq(pcg_next(&among), pcg_next(&alone));
    }
}

Test(pcg, copy_draws_what_the_original_draws)
{
    struct pcg original = pcg_stream(9, PCG_CLOCK);
    pcg_next(&original);
    struct pcg copy = original;
    for (int i = 0; i < OUTPUTS; i++) {
        uint32_t drawn = pcg_below(&original, 1000);
        cr_assert_eq(pcg_below(&copy, 1000), drawn);
    }
}

/* ---- bugs of the caller abort -------------------------------------------------------------- */

Test(pcg, below_nothing_aborts, .signal = SIGABRT)
{
    struct pcg pcg = pcg_seed(0, 0);
    pcg_below(&pcg, 0);
}

Test(pcg, chance_out_of_nothing_aborts, .signal = SIGABRT)
{
    struct pcg pcg = pcg_seed(0, 0);
    pcg_chance(&pcg, 0, 0);
}

Test(pcg, chance_above_certainty_aborts, .signal = SIGABRT)
{
    struct pcg pcg = pcg_seed(0, 0);
    pcg_chance(&pcg, 3, 2);
}

Test(pcg, generator_that_nobody_seeded_aborts, .signal = SIGABRT)
{
    struct pcg pcg = {0};
    pcg_next(&pcg);
}

Test(pcg, concern_that_does_not_exist_aborts, .signal = SIGABRT)
{
    pcg_stream(0, PCG_CONCERN_COUNT);
}
