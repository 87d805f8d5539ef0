/* Points: what names a commit and a fault. */
#include "model/check.h"
#include "wire/point.h"

#include <criterion/criterion.h>
#include <string.h>

Test(point, text_and_point_are_the_same)
{
    static const char *const texts[] = {"a:13:kill-after", "x:1:cut-before", "h:1000000:40P01",
                                        "a:2:kill-after,b:4:kill-before"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct point points[POINT_DEPTH_MAX];
        size_t count;
        char text[2 * POINT_TEXT_SIZE];
        cr_assert(point_parse(texts[i], points, &count), "%s", texts[i]);
        point_write(points, count, text);
        cr_assert_str_eq(text, texts[i]);
    }
}

Test(point, others_are_refused)
{
    static const char *const texts[] = {"",
                                        "a",
                                        "a:",
                                        "a:1",
                                        "a:1:",
                                        "a:0:kill-after",
                                        "a:1:kill",
                                        "k:1:kill-after",
                                        "a:-1:kill-after",
                                        "a:1000001:kill-after",
                                        "a:1:kill-after,",
                                        "a:1:kill-after,b",
                                        "a:1:late,a:2:late,a:3:late",
                                        "a 1 kill-after"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct point points[POINT_DEPTH_MAX];
        size_t count;
        cr_assert(!point_parse(texts[i], points, &count), "%s", texts[i]);
    }
}

Test(point, a_word_stands_for_all_that_begin_with_it)
{
    char word[20];
    cr_assert(point_fault_is_of(point_fault_find("kill-after"), "kill"));
    cr_assert(point_fault_is_of(point_fault_find("cut-all-after"), "late,cut"));
    cr_assert(!point_fault_is_of(point_fault_find("cut-after"), "cut-all"));
    cr_assert(!point_fault_is_of(point_fault_find("40001"), "4000"));
    cr_assert(point_list_is_sound("kill,cut-all,40001", word, sizeof word));
    cr_assert(!point_list_is_sound("kill,cuts", word, sizeof word));
    cr_assert_str_eq(word, "cuts");
    cr_assert(!point_list_is_sound("kill,,cut", word, sizeof word));
}
