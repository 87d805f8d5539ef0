#include "wire/embedded.h"

#ifdef WIRE_MODULE
__asm__(".section .rodata\n"
        ".global wire_module_begin\n"
        ".global wire_module_end\n"
        "wire_module_begin:\n"
        ".incbin \"" WIRE_MODULE "\"\n"
        "wire_module_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char wire_module_begin[], wire_module_end[];

struct embedded embedded_module(void)
{
    return (struct embedded){wire_module_begin, (size_t)(wire_module_end - wire_module_begin)};
}
#else
struct embedded embedded_module(void)
{
    return (struct embedded){"", 0};
}
#endif
