import { expect, test } from '@jest/globals';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { longWaits } from '#shared/graph/validate/long-waits.ts';

const issues = (fields: object, when?: string) => {
  const nodes = [
    { id: 'w', kind: 'wait', ...fields },
    { id: 'next', kind: 'merge' },
  ];
  const edges = [{ source: 'w', target: 'next', ...(when && { condition_value: when }) }];
  const context = { tools: new Set<string>(), customTools: new Map() };
  const { errors, warnings } = checkGraph({ nodes, edges }, context);
  return [...errors, ...warnings].map(({ code, path, message }) => [code, path, message]);
};

const event = { name: 'invoice.paid' };

test.each<[string, object, string | undefined]>([
  ['seconds', { seconds: '{pause}' }, undefined],
  ['a time', { until: '{due_at}' }, undefined],
  ['an event', { event: { ...event, match: 'event.data.n == n' } }, 'true'],
  ['a deadline', { event, timeout_seconds: 60, on_timeout: 'continue' }, 'false'],
  ['an alert', { event, timeout_seconds: 60, remind_seconds: 30 }, undefined],
  ['several events', { any: [event, { name: 'invoice.voided' }] }, undefined],
])('a wait for %s is valid', (_, fields, when) => {
  expect(issues(fields, when)).toEqual([]);
});

test.each<[object, string, string, string, string | undefined]>([
  [
    {},
    'wait_for_nothing',
    'nodes[0]',
    "Node 'w': say what it waits for: set one of seconds, until, event, any, callback",
    undefined,
  ],
  [
    { seconds: 1, event },
    'wait_for_several',
    'nodes[0].event',
    "Node 'w': it waits for one thing, but has seconds and event: remove all but one, or use `any` for several events",
    undefined,
  ],
  [
    { until: 'tomorrow' },
    'wait_time_invalid',
    'nodes[0].until',
    'Node \'w\': until must be an ISO time such as 2027-01-31T09:00:00Z, not "tomorrow"',
    undefined,
  ],
  [
    { seconds: 'soon' },
    'wait_time_invalid',
    'nodes[0].seconds',
    "Node 'w': seconds must be a number from 0 to 31536000",
    undefined,
  ],
  [
    { event, timeout_seconds: 60, remind_seconds: 60 },
    'wait_reminds_too_late',
    'nodes[0].remind_seconds',
    "Node 'w': the alert would come after the wait has ended: set remind_seconds below 60",
    undefined,
  ],
  [
    { seconds: 1, timeout_seconds: 60 },
    'wait_timeout_useless',
    'nodes[0].timeout_seconds',
    "Node 'w': seconds already says when it ends: remove timeout_seconds",
    undefined,
  ],
  [
    { event, on_timeout: 'continue' },
    'wait_timeout_incomplete',
    'nodes[0].on_timeout',
    "Node 'w': on_timeout 'continue' needs timeout_seconds: set how long it waits, or remove on_timeout",
    undefined,
  ],
  [
    { event, timeout_seconds: 60 },
    'wait_edge_never_taken',
    'nodes[0]',
    "Node 'w': its 'false' edge is for a wait whose time ran out: set timeout_seconds and on_timeout 'continue', or remove the edge",
    'false',
  ],
  [
    { seconds: 1 },
    'wait_edge_never_taken',
    'nodes[0]',
    "Node 'w': its 'false' edge is never taken, because a time always comes: remove the edge",
    'false',
  ],
])('%j is %s', (fields, code, path, message, when) => {
  expect(issues(fields, when)).toEqual([[code, path, message]]);
});

test('a match that does not parse is found with its place', () => {
  const [found] = issues({ event: { ...event, match: 'event.data ==' } });
  expect(found?.slice(0, 2)).toEqual(['expression_invalid', 'nodes[0].event.match']);
});

test('an event without a name is refused', () => {
  expect(issues({ event: {} })[0]?.[1]).toBe('nodes[0].event.name');
});

test.each<[object, number | null, string[]]>([
  [{ seconds: 8 * 86_400 }, 7, ['nodes[0].seconds']],
  [{ seconds: String(8 * 86_400) }, 7, ['nodes[0].seconds']],
  [{ event, timeout_seconds: 8 * 86_400 }, 7, ['nodes[0].timeout_seconds']],
  [{ seconds: 7 * 86_400 }, 7, []],
  [{ seconds: '{pause}' }, 7, []],
  [{ event }, 7, []],
  [{ seconds: 300 * 86_400 }, null, []],
])('a wait of %j, with runs kept for %s days, warns at %j', (fields, days, paths) => {
  const graph = { nodes: [{ id: 'w', kind: 'wait', ...fields }], edges: [] } as never;
  expect(longWaits(graph, days).map(({ path }) => path)).toEqual(paths);
});
