import type { z } from 'zod';
import type { limitsInput } from '#shared/contract/limits/limits.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';
import { readDrawing } from '#test/graph/drawing.ts';
import type { Outside } from '#test/storm/effects.ts';

export interface StormGraph {
  graph: GraphInput;
  checks?: EvaluationCheck[];
  runCapUsd?: number;
  limits?: z.input<typeof limitsInput>;
}

/** The cost of a step of the mock model, in micro-dollars. */
export const STEP_MICROS = 1_000;
/** For `capped` and `capped fan`: the run is stopped before its fourth step, however many are ready at once. */
export const CAP_USD = 0.003;

type Node = NonNullable<GraphInput['nodes']>[number];

/** A graph of nodes, with the edges of a drawing. */
const flow = (nodes: Node[], ...drawing: string[]): StormGraph => ({
  graph: { nodes, edges: readDrawing(drawing.join('\n')).edges },
});

const agent = (id: string, delayMs: number, rest: object = {}) =>
  ({
    id,
    kind: 'agent',
    prompt: `{act} at ${id}`,
    mock: { output: `${id} of {act}`, cost_usd: STEP_MICROS / 1e6, delay_ms: delayMs },
    ...rest,
  }) as const;

/** Longer than the matching of an event can take while processes die. */
const DEADLINE_S = 15;

/** A wait for an event, which continues without one after its deadline. */
const wait = (id: string, event: object) =>
  ({ id, kind: 'wait', ...event, timeout_seconds: DEADLINE_S, on_timeout: 'continue' }) as Node;

type ToolName = 'steady' | 'flaky' | 'narrow' | 'metered';

/** A custom tool of the workspace that counts its calls. */
const effect = (id: string, name: ToolName = 'steady', params: object = {}) =>
  ({
    id,
    kind: 'tool',
    tool_name: `custom:${name}`,
    params: { act: '{act}', at: id, ...params },
  }) as const;

/** The limits of calls of the workspace; the steps that make such calls have the name of the tool. */
export const CALL_LIMITS = {
  narrow: { tools: ['custom:narrow'], concurrency: 2, key: '{args.lane}' },
  metered: { tools: ['custom:metered'], per_minute: 20 },
};

const transform = (id: string, expression: string) =>
  ({ id, kind: 'tool', tool_name: 'json_transform', params: { expression } }) as const;

const gate = (id: string) => ({ id, kind: 'human_gate', prompt: `${id} of {act}?` }) as const;

/** Its runs are those of `called`: only a request has an `{act}`. */
const childMock = { output: 'thought', cost_usd: STEP_MICROS / 1e6, delay_ms: 100 };

/** All kinds of nodes and endings; inputs have an `{act}` that identifies the request. */
export const graphs = (outside: Pick<Outside, 'toolUrl'>) =>
  ({
    chain: {
      ...flow(
        [
          agent('draft', 150),
          effect('send'),
          transform('shape', "{'length': len(draft)}['length']"),
          { id: 'long', kind: 'condition', expression: 'shape > 3' },
          agent('polish', 50),
          transform('short', "'short'"),
          { id: 'end', kind: 'merge' },
        ],
        'draft -> send -> shape -> long -true-> polish',
        'long -false-> short',
        'polish -> end',
        'short -> end',
      ),
      checks: [
        { name: 'cheap', type: 'max_cost_usd', value: 1 },
        { name: 'polished', type: 'contains', target: 'polish', value: 'polish' },
      ],
    },
    fan: flow(
      [
        ...['a', 'b', 'c', 'd'].map((id, index) => agent(id, 100 + 200 * index)),
        { id: 'all', kind: 'merge' },
        effect('report'),
      ],
      'a -> all -> report',
      'b -> all',
      'c -> all',
      'd -> all',
    ),
    looped: flow(
      [
        { id: 'again', kind: 'loop', expression: 'true', max_iterations: 3 },
        agent('think', 100),
        effect('do'),
        transform('done', "'done'"),
      ],
      'again -true-> think -> do -> again -false-> done',
    ),
    /** Every item takes the error edge of its first step. */
    mapped: flow(
      [
        { id: 'each', kind: 'map', items: '[1, 2, 3]', concurrency: 2 },
        transform('bad', '1 / 0'),
        effect('do'),
        transform('done', "'done'"),
      ],
      'each -true-> bad -error-> do',
      'bad -> each',
      'do -> each -> done',
    ),
    called: flow(
      [{ id: 'call', kind: 'workflow', workflow: 'child', input: { of: '{act}' } }, effect('send')],
      'call -> send',
    ),
    child: {
      limits: { concurrency: { limit: 3 } },
      ...flow([agent('think', 100, { prompt: '{of}', mock: childMock })]),
    },
    flaky: flow(
      [agent('before', 50), effect('try', 'flaky'), effect('after')],
      'before -> try -> after',
    ),
    waiting: flow(
      [
        { id: 'pause', kind: 'tool', tool_name: 'delay', params: { seconds: 2 } },
        {
          id: 'call',
          kind: 'tool',
          tool_name: 'http_request',
          params: { url: outside.toolUrl('plain'), method: 'POST', body: { act: '{act}' } },
          retry: { max_attempts: 4, initial_interval_seconds: 0.2, backoff: 2 },
          timeout_seconds: 8,
        },
      ],
      'pause -> call',
    ),
    large: flow(
      [
        {
          id: 'much',
          kind: 'agent',
          prompt: '{act}',
          mock: { output: 'x'.repeat(90_000), cost_usd: STEP_MICROS / 1e6, delay_ms: 50 },
        },
        transform('size', 'len(much)'),
        effect('send'),
      ],
      'much -> size -> send',
    ),
    gated: flow(
      [agent('draft', 100), gate('ok'), effect('send'), effect('drop')],
      'draft -> ok -true-> send',
      'ok -false-> drop',
    ),
    strict: flow([gate('ok'), effect('send')], 'ok -true-> send'),
    'two gates': flow(
      [
        agent('draft', 50),
        gate('left'),
        gate('right'),
        { id: 'both', kind: 'merge' },
        effect('send'),
      ],
      'draft -> left',
      'draft -> right',
      'left -> both',
      'right -> both -> send',
    ),
    'gate in a loop': flow(
      [
        { id: 'again', kind: 'loop', expression: 'true', max_iterations: 2 },
        agent('draft', 50),
        gate('ok'),
        transform('done', "'done'"),
      ],
      'again -true-> draft -> ok -> again -false-> done',
    ),
    slow: flow(
      [agent('first', 1_500), effect('middle'), agent('second', 1_500), agent('beside', 2_500)],
      'first -> middle -> second',
      'first -> beside',
    ),
    capped: {
      runCapUsd: CAP_USD,
      ...flow(
        ['1', '2', '3', '4', '5'].map((id) => agent(`step-${id}`, 50)),
        'step-1 -> step-2 -> step-3 -> step-4 -> step-5',
      ),
    },
    'capped fan': {
      runCapUsd: CAP_USD,
      ...flow(
        [
          transform('begin', "'begin'"),
          ...['a', 'b', 'c', 'd', 'e'].map((id, index) => agent(id, 50 + 100 * index)),
        ],
        ...['a', 'b', 'c', 'd', 'e'].map((id) => `begin -> ${id}`),
      ),
    },
    awaits: flow(
      [
        agent('draft', 300),
        wait('paid', { event: { name: 'paid', match: 'event.data.act == act' } }),
        { id: 'rest', kind: 'wait', seconds: 1 },
        effect('send'),
        effect('drop'),
      ],
      'draft -> paid -true-> rest -> send',
      'paid -false-> drop',
    ),
    listens: flow(
      [wait('heard', { any: [{ name: 'bell' }, { name: 'siren' }] }), effect('send')],
      'heard -> send',
    ),
    'calls back': flow(
      [
        effect('order', 'steady', { callback: '{callbacks.answer}' }),
        agent('draft', 300),
        wait('answer', { callback: true }),
        effect('send'),
        effect('drop'),
      ],
      'order -> draft -> answer -true-> send',
      'answer -false-> drop',
    ),
    /** Its limit changes during the storm. */
    queued: {
      limits: {
        concurrency: { limit: 2, key: '{lane}', on_limit: 'queue' },
        priority: 'default(level, 0)',
      },
      ...flow(
        [agent('draft', 200), effect('narrow', 'narrow', { lane: '{lane}' }), agent('polish', 200)],
        'draft -> narrow -> polish',
      ),
    },
    /** Its runs give up their slots while they are paused. */
    yielding: {
      limits: {
        concurrency: { limit: 1, key: '{lane}', hold_while_paused: false },
        priority: 'default(level, 0)',
      },
      ...flow(
        [agent('draft', 300), gate('ask'), effect('send'), gate('sure'), agent('end', 100)],
        'draft -> ask -> send -> sure -> end',
      ),
    },
    /** Its triggers share runs. */
    settling: {
      limits: { debounce: { seconds: 1.5, max_seconds: 4, key: '{lane}' } },
      ...flow([agent('draft', 100), effect('send')], 'draft -> send'),
    },
    /** Also in flight while it waits. */
    newest: {
      limits: { concurrency: { limit: 2, key: '{lane}', on_limit: 'cancel_running' } },
      ...flow(
        [agent('draft', 400), { id: 'rest', kind: 'wait', seconds: 1 }, effect('send')],
        'draft -> rest -> send',
      ),
    },
    paced: {
      limits: {
        concurrency: { limit: 3, key: '{lane}' },
        rate: { limit: 3, per_seconds: 2, key: '{lane}' },
        priority: 'default(level, 0)',
      },
      ...flow([effect('metered', 'metered'), agent('end', 100)], 'metered -> end'),
    },
    hooked: flow([agent('read', 50), effect('answer')], 'read -> answer'),
    scheduled: flow([transform('tick', "'tick'"), agent('work', 300)], 'tick -> work'),
  }) satisfies Record<string, StormGraph>;

export type GraphName = keyof ReturnType<typeof graphs>;

/** Graphs that end without human action. */
export const selfRunning: readonly GraphName[] = [
  ...(['chain', 'fan', 'looped', 'mapped', 'called', 'waiting', 'large'] as const),
];
