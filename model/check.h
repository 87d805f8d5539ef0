/* CHECK: an assertion about our own code that is never switched off. The comment on it names the
 * invariant that it asserts: CHECK(x); followed by the label of a header, such as W2 of sim/world.h.
 *
 * A CHECK that fails is a bug in Assay, never a protocol's outcome and never bad input (those are
 * data). model/ does no I/O, so it only calls the hook; the program that links it defines the hook.
 * model/check_abort.c is the definition that the command line and the tests use. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

/* The hook. Must not return. */
__attribute__((cold)) _Noreturn void check_failed(const char *claim, const char *file, int line);

/* Calls a function of CHECKs, an x_check, that costs more than the code around it. Only where the
 * build says so (ASSAY_CHECK_ALL: debug, coverage and the sanitizers); tests call it by itself. */
#ifdef ASSAY_CHECK_ALL
#define CHECK_ALL(call) (call)
#else
#define CHECK_ALL(call) ((void)0)
#endif

#define CHECK(claim) ((claim) ? (void)0 : check_failed(#claim, __FILE__, __LINE__))

/* How many elements an array has. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
