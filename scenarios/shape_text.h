/* The graph of a scenario, read from YAML into a shape: the values of five keys, in any order.
 * These functions only record; shape_build() decides whether the whole is a graph.
 *
 *      graph:   {trigger: [left, {to: right, when: odd}], left: [leaf]}
 *               or {binary: LEVELS}, {chain: NODES}, {fan: CHILDREN}
 *      pending: {left: [[extra], []]}        one list of children a pending answer
 *      cycles:  {leaf: {to: left, rounds: 2}}
 *      preset:  {right: {leg1: 998, leg2: 99999997}}
 *      again:   {right: 1}                   calls after the closing answer */
#ifndef SCENARIOS_SHAPE_TEXT_H
#define SCENARIOS_SHAPE_TEXT_H

#include "scenarios/reader.h"
#include "scenarios/shape.h"

bool shape_text_graph(struct reader *reader, struct shape *shape);
bool shape_text_pending(struct reader *reader, struct shape *shape);
bool shape_text_cycles(struct reader *reader, struct shape *shape);
bool shape_text_preset(struct reader *reader, struct shape *shape);
bool shape_text_again(struct reader *reader, struct shape *shape);

#endif
