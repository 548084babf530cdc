import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { signInboundWebhook } from '#client/index.ts';
import {
  type Check,
  checkFrom,
  checkProblem,
  checkTypes,
  retyped,
} from '#console/src/pages/workflows/checks/check.ts';
import { checkDraft, inputKeys } from '#console/src/pages/workflows/mistakes/checker.ts';
import { countByNode, countWords } from '#console/src/pages/workflows/mistakes/mistakes.ts';
import { fieldAt, fieldsOf } from '#console/src/pages/workflows/editor/node-fields.ts';
import { edgeKey, mergeVersions } from '#console/src/pages/workflows/versions/version-diff.ts';
import { curlOf, exampleEvent, signedCurlOf } from '#console/src/pages/inbound/webhook-curl.ts';
import { graphNodeSchema } from '#shared/contract/workflows/graph.ts';
import { mockSchema } from '#shared/contract/workflows/agent-node.ts';
import { evaluationCheckSchema } from '#shared/contract/workflows/evaluation-check.ts';
import { retrySchema } from '#shared/contract/workflows/node-common.ts';

describe('the form of a node', () => {
  const nested: Record<string, string[]> = {
    retry: Object.keys(retrySchema.shape),
    mock: Object.keys(mockSchema.shape),
    approvers: ['roles', 'members'],
    event: ['name', 'match'],
  };
  // A gate makes no attempts that could be retried.
  const unused: Record<string, string[]> = { human_gate: ['retry'] };

  test.each(graphNodeSchema.options.map((option) => [option.shape.kind.value, option] as const))(
    'has a field for every property of the kind %s',
    (kind, { shape }) => {
      // Id and label have separate fields at the top, the kind is fixed, and the position is set by dragging.
      const named = Object.keys(shape).filter(
        (key) => !['id', 'label', 'kind', 'position', ...(unused[kind] ?? [])].includes(key),
      );
      const wanted = named.flatMap(
        (key) => nested[key]?.map((inner) => `${key}.${inner}`) ?? [key],
      );
      expect(
        fieldsOf(kind)
          .map(({ name }) => name)
          .sort(),
      ).toEqual(wanted.sort());
    },
  );

  test('finds the field for a path in the graph', () => {
    expect(fieldAt('nodes[3].params.url', 'tool')).toBe('params');
    expect(fieldAt('nodes[3].fallback_models[1]', 'agent')).toBe('fallback_models');
    expect(fieldAt('nodes[3].retry.backoff', 'loop')).toBe('retry.backoff');
    expect(fieldAt('nodes[3].id', 'merge')).toBe('id');
    expect(fieldAt('nodes[3].paramsx', 'tool')).toBeUndefined();
    expect(fieldAt('edges[0].source', 'tool')).toBeUndefined();
    expect(fieldAt(undefined, 'tool')).toBeUndefined();
  });
});

describe('checking a draft', () => {
  const graph = {
    nodes: [
      { id: 'ask', kind: 'condition', expression: 'score >' },
      { id: 'call', kind: 'tool', tool_name: 'custom:crm', params: {} },
    ],
    edges: [{ source: 'ask', target: 'nowhere' }],
  };

  test('problems name the node, the edge and the position in the text', () => {
    const mistakes = checkDraft(graph, [], []);
    expect(mistakes).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        nodeId: 'ask',
        path: 'nodes[0].expression',
        position: 7,
      }),
    );
    expect(mistakes).toContainEqual(
      expect.objectContaining({ severity: 'error', edge: 0, path: 'edges[0].target' }),
    );
    expect(countByNode(mistakes).get('call')).toEqual({ errors: 1, warnings: 0 });
  });

  test('custom tools of the workspace are known', () => {
    const crm = { name: 'crm', label: '', description: '', input_schema: null };
    expect(countByNode(checkDraft(graph, [crm], [])).has('call')).toBe(false);
  });

  test('counts are put into words', () => {
    expect(countWords({ errors: 1, warnings: 0 })).toBe('1 error');
    expect(countWords({ errors: 2, warnings: 1 })).toBe('2 errors, 1 warning');
    expect(countWords({ errors: 0, warnings: 0 })).toBeUndefined();
  });
});

test('the input has the keys that are read but set by no node, in reading order', () => {
  const graph = {
    nodes: [
      { id: 'triage', kind: 'agent', prompt: 'Sort {ticket.title} for {team}', output_key: 'kind' },
      { id: 'urgent', kind: 'condition', expression: "kind == 'urgent' and score > limit" },
      { id: 'broken', kind: 'condition', expression: 'and and' },
      {
        id: 'get',
        kind: 'tool',
        tool_name: 'http_request',
        params: { url: 'https://h/{ticket.id}' },
      },
      { id: 'note', kind: 'human_gate', prompt: '{triage} {get.body}' },
      'scribble',
    ],
    edges: [],
  };
  // `triage` is the node's id, but its output is stored under `kind`, so `triage` must be part of the input.
  expect(inputKeys(graph)).toEqual(['ticket', 'team', 'score', 'limit', 'triage']);
});

test('the addresses of callbacks are no keys of the input', () => {
  const params = { url: 'https://x.example/', body: '{callbacks.paid} {order}' };
  const ask = { id: 'ask', kind: 'tool', tool_name: 'http_request', params } as const;
  const paid = { id: 'paid', kind: 'wait', callback: true } as const;
  expect(inputKeys({ nodes: [ask, paid], edges: [] })).toEqual(['order']);
  expect(inputKeys({ nodes: [ask], edges: [] })).toEqual(['callbacks', 'order']);
});

describe('differences between versions', () => {
  const from = {
    nodes: [
      { id: 'a', kind: 'agent', prompt: 'old', model: 'mock' },
      { id: 'b', kind: 'merge' },
    ],
    edges: [{ source: 'a', target: 'b' }],
  };
  const to = {
    nodes: [
      { id: 'a', kind: 'agent', prompt: 'new', model: 'mock', label: 'A' },
      { id: 'c', kind: 'merge' },
    ],
    edges: [{ source: 'a', target: 'c', condition_value: 'true' }],
  };

  test('the merged graph holds the nodes and edges of both, with their change', () => {
    const { graph, nodes, edges } = mergeVersions(from, to);
    expect(graph.nodes).toEqual([...to.nodes, from.nodes[1]]);
    expect(graph.edges).toEqual([...to.edges, ...from.edges]);
    expect(Object.fromEntries(nodes)).toEqual({ a: 'changed', b: 'removed', c: 'added' });
    expect(edges.get(edgeKey('a', 'c', 'true'))).toBe('added');
    expect(edges.get(edgeKey('a', 'b', undefined))).toBe('removed');
  });

  test('a changed node lists only the fields that differ', () => {
    expect(mergeVersions(from, to).changes).toContainEqual({
      part: 'node',
      name: 'a',
      fate: 'changed',
      before: { prompt: 'old' },
      after: { prompt: 'new', label: 'A' },
    });
  });

  test('equal versions have no differences', () => {
    expect(mergeVersions(from, structuredClone(from)).changes).toEqual([]);
  });
});

describe('checks', () => {
  test('every type of the contract has a form', () => {
    const types = evaluationCheckSchema.options.flatMap(({ shape: { type } }): string[] =>
      'options' in type ? type.options : [...type.values],
    );
    expect(Object.keys(checkTypes).sort()).toEqual(types.sort());
  });

  test('accepts exactly the checks that the contract accepts', () => {
    const full: Check[] = [
      { name: 'polite', type: 'contains', value: 'thank', target: 'reply', case_sensitive: true },
      { name: 'cheap', type: 'max_cost_usd', value: 0 },
      { name: 'sure', type: 'expression', value: 'score > 0.5' },
    ];
    for (const check of full) {
      expect(checkProblem(check)).toBeUndefined();
      expect(evaluationCheckSchema.safeParse(check).success).toBe(true);
      expect(checkFrom(check)).toEqual(check);
    }
    expect(checkProblem({ name: ' ', type: 'equals', value: '' })).toBe('Enter a name');
    expect(checkProblem({ name: 'x', type: 'max_cost_usd', value: 'much' })).toMatch(/number/);
    expect(checkProblem({ name: 'x', type: 'expression', value: '' })).toBe('Enter an expression');
  });

  test('a new type drops fields that it does not use', () => {
    const text: Check = {
      name: 'x',
      type: 'contains',
      value: 'v',
      target: 't',
      case_sensitive: true,
    };
    expect(retyped(text, 'regex')).toEqual({ ...text, type: 'regex' });
    expect(retyped(text, 'max_cost_usd')).toEqual({ name: 'x', type: 'max_cost_usd' });
    expect(retyped({ name: 'x', type: 'max_cost_usd', value: 1 }, 'max_duration_ms')).toEqual({
      name: 'x',
      type: 'max_duration_ms',
      value: 1,
    });
  });
});

describe('webhook commands', () => {
  const url = 'https://ops.example.com/api/hooks/wf_1/0123456789abcdef0123456789abcdef';
  const body = `{"ticket": "it's $(whoami) \\"quoted\\""}`;
  /** The arguments of `curl` in the command; `curl` and the clock are replaced by fakes. */
  const sent = (command: string): string[] =>
    execFileSync(
      'sh',
      ['-c', `date() { echo 1700000000; }\ncurl() { printf '%s\\0' "$@"; }\n${command}`],
      { encoding: 'utf8' },
    )
      .split('\0')
      .slice(0, -1);

  test('the plain command sends any body unchanged', () => {
    expect(sent(curlOf(url, body))).toEqual([
      ...['-s', '-X', 'POST', url],
      ...['-H', 'content-type: application/json', '--data-binary', body],
    ]);
  });

  test('the signed command signs like the client', async () => {
    const signature = await signInboundWebhook({
      secret: '0123456789abcdef0123456789abcdef',
      body,
      timestamp: 1_700_000_000,
    });
    expect(sent(signedCurlOf(url, body))).toEqual([
      ...['-s', '-X', 'POST', url, '--data-binary', body],
      ...Object.entries(signature).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ]);
  });

  test('the example event has an event ID and the keys that the graph reads', () => {
    expect(JSON.parse(exampleEvent('event_id', ['ticket', 'event_id']))).toEqual({
      event_id: 'evt_1',
      ticket: '',
    });
  });
});
