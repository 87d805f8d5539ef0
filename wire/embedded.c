#include "wire/embedded.h"

/* A file as bytes between two symbols. */
#define EMBED(name, path)                                                                          \
    __asm__(".section .rodata\n"                                                                   \
            ".global wire_" #name "_begin\n"                                                       \
            ".global wire_" #name "_end\n"                                                         \
            "wire_" #name "_begin:\n"                                                              \
            ".incbin \"" path "\"\n"                                                               \
            "wire_" #name "_end:\n"                                                                \
            ".byte 0\n"                                                                            \
            ".previous\n");                                                                        \
    extern const char wire_##name##_begin[], wire_##name##_end[]

EMBED(shim, WIRE_SHIM);

struct embedded embedded_shim(void)
{
    return (struct embedded){wire_shim_begin, (size_t)(wire_shim_end - wire_shim_begin)};
}

#ifdef WIRE_MODULE
EMBED(module, WIRE_MODULE);

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
