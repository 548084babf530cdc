import type { EvaluationCheck, GraphInput } from '#shared/contract/workflows/graph.ts';

import type { Outside } from '#test/storm/effects.ts';

export interface StormGraph {
  graph: GraphInput;
  checks?: EvaluationCheck[];
  runCapUsd?: number;
}

/** The cost of a step of the mock model, in micro-dollars. */
export const STEP_MICROS = 1_000;
/** For `capped` and `capped fan`: the run is stopped before its fourth step, however many are ready at once. */
export const CAP_USD = 0.003;

const edge = (source: string, target: string, condition_value?: 'true' | 'false' | 'error') => ({
  source,
  target,
  ...(condition_value === undefined ? {} : { condition_value }),
});

const agent = (id: string, delayMs: number, rest: object = {}) =>
  ({
    id,
    kind: 'agent',
    prompt: `{act} at ${id}`,
    mock: { output: `${id} of {act}`, cost_usd: STEP_MICROS / 1e6, delay_ms: delayMs },
    ...rest,
  }) as const;

/** A custom tool of the workspace that counts its calls. */
const effect = (id: string, name: 'steady' | 'flaky' = 'steady') =>
  ({ id, kind: 'tool', tool_name: `custom:${name}`, params: { act: '{act}', at: id } }) as const;

const transform = (id: string, expression: string) =>
  ({ id, kind: 'tool', tool_name: 'json_transform', params: { expression } }) as const;

const gate = (id: string) => ({ id, kind: 'human_gate', prompt: `${id} of {act}?` }) as const;

/** Its runs are those of `called`: only a request has an `{act}`. */
const childMock = { output: 'thought', cost_usd: STEP_MICROS / 1e6, delay_ms: 100 };

/** All kinds of nodes and endings; inputs have an `{act}` that identifies the request. */
export const graphs = (outside: Pick<Outside, 'toolUrl'>) =>
  ({
    chain: {
      graph: {
        nodes: [
          agent('draft', 150),
          effect('send'),
          transform('shape', "{'length': len(draft)}['length']"),
          { id: 'long', kind: 'condition', expression: 'shape > 3' },
          agent('polish', 50),
          transform('short', "'short'"),
          { id: 'end', kind: 'merge' },
        ],
        edges: [
          edge('draft', 'send'),
          edge('send', 'shape'),
          edge('shape', 'long'),
          edge('long', 'polish', 'true'),
          edge('long', 'short', 'false'),
          edge('polish', 'end'),
          edge('short', 'end'),
        ],
      },
      checks: [
        { name: 'cheap', type: 'max_cost_usd', value: 1 },
        { name: 'polished', type: 'contains', target: 'polish', value: 'polish' },
      ],
    },
    fan: {
      graph: {
        nodes: [
          ...['a', 'b', 'c', 'd'].map((id, index) => agent(id, 100 + 200 * index)),
          { id: 'all', kind: 'merge' },
          effect('report'),
        ],
        edges: [...['a', 'b', 'c', 'd'].map((id) => edge(id, 'all')), edge('all', 'report')],
      },
    },
    looped: {
      graph: {
        nodes: [
          { id: 'again', kind: 'loop', expression: 'true', max_iterations: 3 },
          agent('think', 100),
          effect('do'),
          transform('done', "'done'"),
        ],
        edges: [
          edge('again', 'think', 'true'),
          edge('think', 'do'),
          edge('do', 'again'),
          edge('again', 'done', 'false'),
        ],
      },
    },
    /** Every item takes the error edge of its first step. */
    mapped: {
      graph: {
        nodes: [
          { id: 'each', kind: 'map', items: '[1, 2, 3]', concurrency: 2 },
          transform('bad', '1 / 0'),
          effect('do'),
          transform('done', "'done'"),
        ],
        edges: [
          edge('each', 'bad', 'true'),
          edge('bad', 'do', 'error'),
          edge('bad', 'each'),
          edge('do', 'each'),
          edge('each', 'done'),
        ],
      },
    },
    called: {
      graph: {
        nodes: [
          { id: 'call', kind: 'workflow', workflow: 'child', input: { of: '{act}' } },
          effect('send'),
        ],
        edges: [edge('call', 'send')],
      },
    },
    child: {
      graph: { nodes: [agent('think', 100, { prompt: '{of}', mock: childMock })], edges: [] },
    },
    flaky: {
      graph: {
        nodes: [agent('before', 50), effect('try', 'flaky'), effect('after')],
        edges: [edge('before', 'try'), edge('try', 'after')],
      },
    },
    waiting: {
      graph: {
        nodes: [
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
        edges: [edge('pause', 'call')],
      },
    },
    large: {
      graph: {
        nodes: [
          {
            id: 'much',
            kind: 'agent',
            prompt: '{act}',
            mock: { output: 'x'.repeat(90_000), cost_usd: STEP_MICROS / 1e6, delay_ms: 50 },
          },
          transform('size', 'len(much)'),
          effect('send'),
        ],
        edges: [edge('much', 'size'), edge('size', 'send')],
      },
    },
    gated: {
      graph: {
        nodes: [agent('draft', 100), gate('ok'), effect('send'), effect('drop')],
        edges: [edge('draft', 'ok'), edge('ok', 'send', 'true'), edge('ok', 'drop', 'false')],
      },
    },
    strict: {
      graph: {
        nodes: [gate('ok'), effect('send')],
        edges: [edge('ok', 'send', 'true')],
      },
    },
    'two gates': {
      graph: {
        nodes: [
          agent('draft', 50),
          gate('left'),
          gate('right'),
          { id: 'both', kind: 'merge' },
          effect('send'),
        ],
        edges: [
          edge('draft', 'left'),
          edge('draft', 'right'),
          edge('left', 'both'),
          edge('right', 'both'),
          edge('both', 'send'),
        ],
      },
    },
    'gate in a loop': {
      graph: {
        nodes: [
          { id: 'again', kind: 'loop', expression: 'true', max_iterations: 2 },
          agent('draft', 50),
          gate('ok'),
          transform('done', "'done'"),
        ],
        edges: [
          edge('again', 'draft', 'true'),
          edge('draft', 'ok'),
          edge('ok', 'again'),
          edge('again', 'done', 'false'),
        ],
      },
    },
    slow: {
      graph: {
        nodes: [
          agent('first', 1_500),
          effect('middle'),
          agent('second', 1_500),
          agent('beside', 2_500),
        ],
        edges: [edge('first', 'middle'), edge('middle', 'second'), edge('first', 'beside')],
      },
    },
    capped: {
      runCapUsd: CAP_USD,
      graph: {
        nodes: ['1', '2', '3', '4', '5'].map((id) => agent(`step-${id}`, 50)),
        edges: ['1', '2', '3', '4'].map((id) => edge(`step-${id}`, `step-${Number(id) + 1}`)),
      },
    },
    'capped fan': {
      runCapUsd: CAP_USD,
      graph: {
        nodes: [
          transform('begin', "'begin'"),
          ...['a', 'b', 'c', 'd', 'e'].map((id, index) => agent(id, 50 + 100 * index)),
        ],
        edges: ['a', 'b', 'c', 'd', 'e'].map((id) => edge('begin', id)),
      },
    },
    hooked: {
      graph: { nodes: [agent('read', 50), effect('answer')], edges: [edge('read', 'answer')] },
    },
    scheduled: {
      graph: {
        nodes: [transform('tick', "'tick'"), agent('work', 300)],
        edges: [edge('tick', 'work')],
      },
    },
  }) satisfies Record<string, StormGraph> as Record<GraphName, StormGraph>;

export type GraphName =
  | 'chain'
  | 'fan'
  | 'looped'
  | 'mapped'
  | 'called'
  | 'child'
  | 'flaky'
  | 'waiting'
  | 'large'
  | 'gated'
  | 'strict'
  | 'two gates'
  | 'gate in a loop'
  | 'slow'
  | 'capped'
  | 'capped fan'
  | 'hooked'
  | 'scheduled';

/** Graphs that end without human action. */
export const selfRunning: readonly GraphName[] = [
  ...(['chain', 'fan', 'looped', 'mapped', 'called', 'waiting', 'large'] as const),
];
