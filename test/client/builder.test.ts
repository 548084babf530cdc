import { describe, expect, test } from '@jest/globals';
import { type BuiltWorkflow, workflow } from '#client/index.ts';
import { readDefinition } from '#cli/files/definition.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { inputKeysOf } from '#shared/graph/input-keys.ts';
import type { JsonObject } from '#shared/json.ts';
import { builtInTemplates } from '#shared/templates/index.ts';
import { builtinTools } from '#shared/tools.ts';

/** The report of the service's own validation. */
const check = ({ graph, input_schema: schema }: BuiltWorkflow) =>
  checkGraph(graph, {
    tools: builtinTools,
    customTools: new Map(),
    ...inputKeysOf((schema ?? null) as JsonObject | null),
  });

const edgesOf = ({ graph }: BuiltWorkflow): string[] =>
  graph.edges.map(({ source, target, condition_value: value }) =>
    [source, value ?? '-', target].join(' '),
  );

const ticket = {
  input_schema: {
    type: 'object',
    properties: { ticket: { type: 'string' } },
    required: ['ticket'],
  },
} as const;
const toolbox = { tool_name: 'json_transform', params: { expression: '1' } } as const;

describe('a built workflow', () => {
  test('has the content of a file', () => {
    const built = workflow('Answer tickets', { ...ticket, description: 'Answers' }, (g) =>
      g
        .agent('draft', { prompt: 'Answer {ticket}' })
        .gate('ok', { prompt: 'Send {draft}?' })
        .tool('send', { tool_name: 'send_chat_message', params: { text: '{draft}' } }),
    );
    expect(JSON.parse(JSON.stringify(built))).toEqual({
      ...ticket,
      name: 'Answer tickets',
      description: 'Answers',
      graph: {
        nodes: [
          { id: 'draft', kind: 'agent', prompt: 'Answer {ticket}' },
          { id: 'ok', kind: 'human_gate', prompt: 'Send {draft}?' },
          { id: 'send', kind: 'tool', tool_name: 'send_chat_message', params: { text: '{draft}' } },
        ],
        edges: [
          { source: 'draft', target: 'ok' },
          { source: 'ok', target: 'send' },
        ],
      },
    });
    expect(readDefinition('a', JSON.stringify(built), 'json').problems).toEqual([]);
    expect(check(built)).toMatchObject({ valid: true, warnings: [] });
  });

  test('can have every kind of node and of edge, and is valid', () => {
    const built = workflow('All', ticket, (g) =>
      g
        .parallel(
          (b) => b.agent('summary', { prompt: '{ticket}', output_key: 'short' }),
          (b) =>
            b.tool('look_up', toolbox, {
              error: (e) => e.agent('excuse', { prompt: 'Why? {look_up.error.message}' }),
            }),
        )
        .merge('both')
        .condition('urgent', "contains(ticket, 'now')", {
          true: (b) => b.agent('quick', { prompt: '{short} {both}', output_key: 'reply' }),
        })
        .loop('improve', { expression: 'improve.iterations < 2', max_iterations: 3 }, (b) =>
          b.agent('better', { prompt: 'Round {improve.iterations}: {reply}', output_key: 'reply' }),
        )
        .map(
          'lines',
          { items: '[1, 2]', concurrency: 2, output_key: 'list' },
          (b) => b.agent('line', { prompt: '{lines.item} of {lines.index}: {reply}' }),
          { error: (b) => b.agent('sorry', { prompt: '{lines.error.message}' }).end() },
        )
        .agent('helper', {
          prompt: '{list}',
          tools: [
            { name: 'feed_list', fixed: { name: '{reply}' }, approval: 'always' },
            'entity_search',
          ],
          max_turns: 3,
        })
        .gate(
          'ok',
          {
            prompt: 'Send {reply}?',
            input_schema: { type: 'object', properties: { note: { type: 'string' } } },
            required: 2,
          },
          {
            true: (b) => b.agent('send', { prompt: '{note}' }),
            false: (b) => b.agent('decline', { prompt: 'No: {note}' }),
          },
        )
        .agent('report', { prompt: '{reply}' }),
    );
    expect(check(built).errors).toEqual([]);
    expect(new Set(built.graph.nodes.map(({ kind }) => kind)).size).toBe(7);
    expect(edgesOf(built)).toEqual([
      'look_up error excuse',
      'summary - both',
      'look_up - both',
      'excuse - both',
      'both - urgent',
      'urgent true quick',
      'urgent false improve',
      'quick - improve',
      'improve true better',
      'better - improve',
      'improve - lines',
      'lines true line',
      'line - lines',
      'lines error sorry',
      'lines - helper',
      'helper - ok',
      'ok true send',
      'ok false decline',
      'send - report',
      'decline - report',
    ]);
  });

  test('refuses two nodes with the same id, a node that follows nothing, and a branch without its chain', () => {
    expect(() => workflow('x', (g) => g.merge('a').merge('a' as string as 'b'))).toThrow(
      'two nodes',
    );
    expect(() => workflow('x', (g) => g.merge('a').end().merge('b'))).toThrow(
      "'b' follows nothing",
    );
    expect(() => workflow('x', (g) => g.condition('c', 'true', { true: () => undefined }))).toThrow(
      'must return its chain',
    );
  });
});

/** A node of a template without what the builder sets. */
function optionsOf(template: string, node: string): any {
  const { graph } = builtInTemplates.find(({ id }) => id === `tpl_${template}`)!;
  const {
    id: _id,
    kind: _kind,
    ...options
  } = (graph.nodes ?? []).find(({ id }) => id === node) as any;
  return options;
}

describe('builds the graph of a template:', () => {
  const same = (template: string, built: BuiltWorkflow): void => {
    const { graph } = builtInTemplates.find(({ id }) => id === `tpl_${template}`)!;
    const byText = (parts: unknown): string[] =>
      (parts as object[])
        .map((part) =>
          JSON.stringify(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))),
        )
        .toSorted();
    expect(byText(built.graph.nodes)).toEqual(byText(graph.nodes));
    expect(byText(built.graph.edges)).toEqual(byText(graph.edges));
  };

  test('a loop', () => {
    const of = (id: string) => optionsOf('research-loop', id);
    const built = workflow('Research', (g) =>
      g
        .agent('plan', of('plan'))
        .tool('start_notes', of('start_notes'))
        .loop('deepen', of('deepen'), (b) =>
          b
            .agent('search', of('search'))
            .tool('take_note', of('take_note'))
            .tool('measure', of('measure')),
        )
        .agent('report', of('report')),
    );
    same('research-loop', built);
  });

  test('a loop with a named exit', () => {
    const of = (id: string) => optionsOf('content-pipeline', id);
    const built = workflow('Content', (g) =>
      g
        .agent('outline', of('outline'))
        .agent('draft', of('draft'))
        .loop('improve', of('improve'), (b) =>
          b
            .agent('critique', of('critique'))
            .agent('revise', of('revise'))
            .tool('rate', of('rate')),
        )
        .after(['improve', 'false'])
        .agent('headline', of('headline'))
        .tool('article', of('article')),
    );
    same('content-pipeline', built);
  });

  test('parallel branches, conditions and a gate', () => {
    const of = (id: string) => optionsOf('incident-runbook', id);
    const built = workflow('Incident', (g) =>
      g
        .agent('triage', of('triage'))
        .condition('is_severe', of('is_severe'), {
          true: (b) =>
            b
              .parallel(
                (c) => c.agent('logs', of('logs')),
                (c) => c.agent('changes', of('changes')),
              )
              .merge('findings', of('findings'))
              .agent('plan', of('plan'))
              .gate('go_ahead', of('go_ahead'), {
                true: (c) => c.agent('mitigate', of('mitigate')).tool('settle', of('settle')),
                false: (c) => c.agent('escalate', of('escalate')),
              }),
          false: (b) => b.agent('ticket', of('ticket')),
        })
        .agent('report', of('report')),
    );
    same('incident-runbook', built);
  });

  test('gates that continue either way', () => {
    const of = (id: string) => optionsOf('document-review', id);
    const either = { true: <C>(chain: C): C => chain, false: <C>(chain: C): C => chain };
    const built = workflow('Review', (g) =>
      g
        .agent('summary', of('summary'))
        .parallel(
          (b) => b.gate('legal', of('legal'), either),
          (b) => b.gate('editorial', of('editorial'), either),
        )
        .merge('verdicts', of('verdicts'))
        .condition('approved', of('approved'), {
          true: (b) => b.tool('release', of('release')),
          false: (b) => b.agent('rework', of('rework')),
        })
        .agent('outcome', of('outcome')),
    );
    same('document-review', built);
  });

  test('edges that no chain has', () => {
    const of = (id: string) => optionsOf('service-monitoring', id);
    const built = workflow('Monitoring', (g) =>
      g
        .condition('has_reading', of('has_reading'), {
          true: (b) => b.tool('given', of('given')),
          false: (b) => b.tool('probe', of('probe')).tool('read', of('read')),
        })
        .condition('is_degraded', of('is_degraded'), {
          true: (b) =>
            b.agent('alert', of('alert')).condition('wants_message', of('wants_message'), {
              true: (c) => c.tool('send', of('send')),
            }),
          false: (b) => b.tool('all_well', of('all_well')),
        })
        .tool('log', of('log')),
    );
    same('service-monitoring', built);
  });
});

// Compiled by `npm run check`; an expected error that is missing does not compile.
export const types = (): BuiltWorkflow[] => [
  workflow('An unknown key', ticket, (g) =>
    // @ts-expect-error neither the input nor a node has this key
    g.agent('draft', { prompt: 'Answer {tiket}' }),
  ),
  workflow('A key that comes later', ticket, (g) =>
    g
      // @ts-expect-error the node that sets it comes later
      .agent('draft', { prompt: '{review}' })
      .agent('review', { prompt: '{draft} {draft.words[0]} {{not_a_key}} {"json": 1} { spaced }' }),
  ),
  workflow('Deep in parameters', ticket, (g) =>
    // @ts-expect-error a misspelled key at depth
    g.tool('call', { tool_name: 'http_request', params: { body: { list: ['{tickt}'] } } }),
  ),
  workflow('An output key hides the id', ticket, (g) =>
    g
      .agent('draft', { prompt: '{ticket}', output_key: 'answer' })
      // @ts-expect-error the output is under answer
      .agent('review', { prompt: '{draft}' }),
  ),
  workflow('The error of a node is known behind its error edge', ticket, (g) =>
    g.agent(
      'draft',
      { prompt: '{ticket}', output_key: 'answer' },
      {
        error: (b) =>
          b
            .agent('a', { prompt: '{draft.error.kind}' })
            // @ts-expect-error of the nodes here, only draft has failed
            .agent('b', { prompt: '{other}' }),
      },
    ),
  ),
  workflow('What a map sets stays in it', ticket, (g) =>
    g
      .map('each', { items: 'ticket' }, (b) => b.agent('one', { prompt: '{each.item}' }))
      // @ts-expect-error one is set in the items only
      .agent('all', { prompt: '{one}' }),
  ),
  workflow('The form of a gate', ticket, (g) =>
    g
      .gate('ok', { input_schema: { type: 'object', properties: { note: {} } } })
      // @ts-expect-error the form has note only
      .agent('a', { prompt: '{note} {comment}' }),
  ),
  workflow('Names of options', ticket, (g) =>
    // @ts-expect-error agents have no such option
    g.agent('draft', { promt: '{ticket}' }),
  ),
  workflow('Twice', ticket, (g) =>
    // @ts-expect-error the id is taken
    g.merge('a').merge('a'),
  ),
  workflow('After an unknown node', ticket, (g) =>
    // @ts-expect-error there is no node b
    g.merge('a').after('b'),
  ),
  workflow('Without a schema any key may come with the input', (g) =>
    g.agent('a', { prompt: '{x}' }),
  ),
  workflow('Named keys', (g) =>
    g
      .reads('x')
      .agent('a', { prompt: '{x}' })
      // @ts-expect-error only x and a are there
      .agent('b', { prompt: '{a} {y}' }),
  ),
  workflow(
    'An open schema',
    { input_schema: { type: 'object', additionalProperties: true } },
    (g) => g.agent('a', { prompt: '{anything}' }),
  ),
  workflow('A text that the compiler does not know', ticket, (g) =>
    g.agent('a', { prompt: ['{x}'].join(''), mock: { output: '{ticket}' } }),
  ),
];
