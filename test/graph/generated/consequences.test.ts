import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { type CompiledGraph, compileGraph } from '#shared/graph/compile.ts';
import {
  type Answer,
  type Consequences,
  consequencesOf,
} from '#shared/graph/consequences/consequences.ts';
import { coverageOf } from '#shared/graph/consequences/coverage.ts';
import { layoutOf } from '#shared/graph/dry-run/layout.ts';
import { differencesFrom, entryFor } from '#shared/graph/consequences/binding.ts';
import { relation } from '#shared/graph/consequences/relation.ts';
import { approvalOf, canAsk } from '#shared/graph/node-approval.ts';
import { evaluateExpression, truthy } from '#shared/graph/expression/expression.ts';
import { keysReadBy } from '#shared/graph/read-keys.ts';
import type { Scheduler, Situation } from '#shared/graph/schedule/scheduler.ts';
import { renderValue } from '#shared/graph/expression/template.ts';
import { renderParams } from '#shared/graph/prepare/step.ts';
import type { JsonObject } from '#shared/json.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';
import { randomGraph, randomInput } from './build.ts';
import { isEffect } from './behind.ts';
import { runInShell } from './shell.ts';
import { gateError, hash, worldOf } from './world.ts';

/** `GRAPHS` sets the number of graphs. The report of a failure has a seed and a path, which repeat it. */
const { GRAPHS = '500', GRAPH_SEED, GRAPH_PATH } = process.env;
const settings = {
  numRuns: Number(GRAPHS),
  ...(GRAPH_SEED === undefined ? {} : { seed: Number(GRAPH_SEED) }),
  ...(GRAPH_PATH === undefined ? {} : { path: GRAPH_PATH }),
};

const policies = compilePolicies(unrestricted);

const factsOf = (graph: CompiledGraph) => ({
  request: {
    ...{
      workflowId: 'wf',
      graph: { nodes: graph.nodes, edges: [] },
      capMicros: null,
      policies: '',
    },
    ...{ prices: {}, customTools: {}, called: {} },
  },
  judging: { policies, judgeStep, workflowId: 'wf', budget: { work: 20_000_000 } },
  budget: { work: 20_000_000 },
  childOf: () => undefined,
});

function sent(node: GraphNode, state: JsonObject): JsonObject {
  if (node.kind === 'tool') return renderParams(node.tool_name, node.params, state).params;
  if (node.kind === 'workflow') return renderValue(node.input, state) as JsonObject;
  if (node.kind !== 'agent') return {};
  const { prompt, system_prompt } = node;
  return renderValue(
    {
      ...(system_prompt === undefined ? {} : { system_prompt }),
      ...(prompt === undefined ? {} : { prompt }),
    },
    state,
  ) as JsonObject;
}

/** The graph with prompts that read the state: what the input, nodes and gates write. */
function withPrompts(graph: Graph, salt: number): Graph {
  const ids = graph.nodes.map(({ id }) => id);
  const asks = ['always', "shared == 'none'", 'yes', '1 / 0 > args.at'];
  const nodes = graph.nodes.map((node): GraphNode => {
    const pick = (about: string, among: readonly string[]) =>
      among[hash(`${salt} ${about} ${node.id}`) % among.length]!;
    const approval = asks[hash(`${salt} approval ${node.id}`) % (2 * asks.length)];
    const asking = canAsk(node) && approval !== undefined ? { approval } : {};
    if (node.kind === 'tool' && node.tool_name === 'http_request') {
      const body = { first: `{${pick('first', [...ids, 'yes', 'list'])}}`, list: '{list}' };
      return { ...node, ...asking, params: { ...node.params, body } };
    }
    if (canAsk(node)) return { ...node, ...asking };
    if (node.kind !== 'agent') return node;
    const prompt = `{${pick('first', [...ids, 'yes', 'list', 'shared'])}} and {list}`;
    const system_prompt = `{${pick('second', ['yes', 'list', 'shared', ...ids.slice(0, 3)])}}`;
    return { ...node, prompt, ...(hash(`${salt} ${node.id}`) % 2 === 0 ? { system_prompt } : {}) };
  });
  return { ...graph, nodes };
}

/** Whether a step asks, as the workflow decides it. */
function asksFor(node: GraphNode, state: JsonObject): boolean {
  const { when = 'never' } = approvalOf(node) ?? {};
  if (when === 'always' || when === 'never') return when === 'always';
  try {
    const scope = { ...state, args: sent(node, state) };
    return truthy(evaluateExpression(when, scope, { work: 200_000 }));
  } catch {
    return true;
  }
}

test('each effect behind an answered gate was listed by it, with the arguments that were known', () => {
  const seen = { effects: 0, known: 0, certain: 0, behind: 0, covered: 0, asked: 0 };
  fc.assert(
    fc.property(
      randomGraph,
      randomInput,
      fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 30 }),
      fc.nat({ max: 10_000 }),
      (plain, given, picks, salt) => {
        const ids = plain.nodes.map(({ id }) => [id, `before ${id}`]);
        const input = { ...Object.fromEntries(ids), shared: 'none', ...given };
        const compiled = compileGraph(withPrompts(plain, salt));
        const answered: { key: string; found: Consequences }[] = [];
        const executed = new Map<string, string[]>();
        const problems: string[] = [];
        const asking = new Set<string>();
        const answer = (stepKey: string, given: Answer, scheduler: Scheduler): Consequences => {
          const keys = new Set(compiled.nodes.flatMap(keysReadBy));
          const taken = JSON.stringify(scheduler.situation([stepKey], keys));
          const situation = JSON.parse(taken) as Situation;
          const facts = factsOf(compiled);
          const asked = { graph: compiled, situation, laid: {}, stepKey, facts };
          const found = consequencesOf(asked, given);
          answered.push({ key: stepKey, found });
          return found;
        };
        const run = runInShell(compiled, input, worldOf(salt), {
          picks,
          watch: {
            asks: asksFor,
            answers: (key, approved, scheduler) => {
              seen.asked += 1;
              asking.add(key);
              const error = { message: '*', kind: 'rejected', attempts: 1 } as const;
              answer(key, approved ? { continues: true } : { failed: true, error }, scheduler);
            },
            decides: (key, node, end, scheduler) => {
              const found = answer(key, { ...end, error: gateError(node, end) }, scheduler);
              const at = compiled.nodes.findIndex(({ id }) => id === node.id);
              const { uncovered } = coverageOf(compiled, layoutOf(compiled), at, true);
              for (const { node_id, unknown, kind, effect } of found.effects) {
                if (kind === 'agent' || effect === 'read') continue;
                if (uncovered.some((each) => each.node.id === node_id)) continue;
                seen.covered += 1;
                if (unknown.length > 0) problems.push(`${key} does not cover ${node_id}`);
              }
            },
            executes: (key, node, state) => {
              if (executed.has(key) || !isEffect(node)) return;
              executed.set(key, []);
              // Its own decision shows it.
              if (asking.has(key)) return;
              const last = answered
                .filter((each) => relation(compiled, each.key, key) !== 'none')
                .at(-1);
              if (last === undefined || relation(compiled, last.key, key) === 'outside') return;
              seen.behind += 1;
              const shown = entryFor(last.found.effects, key);
              if (shown === undefined) {
                problems.push(`${key} was not listed by ${last.key}`);
                return;
              }
              let real: JsonObject;
              try {
                real = sent(node, state);
              } catch {
                return;
              }
              problems.push(
                ...differencesFrom(shown, { tool: shown.tool, arguments: real }).map(
                  (each) => `${key} behind ${last.key}: ${each}`,
                ),
              );
            },
          },
        });
        for (const { key, found } of answered) {
          for (const { step_key, certainty, unknown } of found.effects) {
            seen.effects += 1;
            if (unknown.length === 0) seen.known += 1;
            if (certainty !== 'certain' || step_key.includes('*')) continue;
            seen.certain += 1;
            if (run.failed || run.restarts.ledger > 0) continue;
            if (!executed.has(step_key)) problems.push(`${step_key} was certain after ${key}`);
          }
        }
        expect(problems).toEqual([]);
      },
    ),
    settings,
  );
  expect(Object.values(seen).every((count) => count > 0)).toBe(true);
});
