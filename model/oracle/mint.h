/* How ids are minted, stated a second time for the oracles (scenarios/MEANING.md): the id of what a
 * scenario asks for is part of the request, and data are made by the same formula. */
#ifndef MODEL_ORACLE_MINT_H
#define MODEL_ORACLE_MINT_H

#include <stdint.h>

static inline int64_t oracle_mint(int64_t parent, int64_t role)
{
    const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15), odd = UINT64_C(0xD6E8FEB86659FD93);
    uint64_t id = (uint64_t)parent ^ (uint64_t)role * golden;
    for (int round = 0; round < 2; round++) {
        id = (id ^ id >> 32) * odd;
    }
    id = (id ^ id >> 32) & (uint64_t)INT64_MAX;
    return id > 0 ? (int64_t)id : 1;
}

#endif
