import fc from 'fast-check';
import { describe, expect, test } from '@jest/globals';
import { readDefinition } from '#cli/files/definition.ts';
import { differenceOf } from '#cli/files/differences.ts';
import { parseText } from '#cli/files/text.ts';
import { type Format, textOf } from '#cli/files/written.ts';
import { builtInTemplates } from '#shared/templates/index.ts';

const valueOf = (text: string, format: Format): unknown => {
  const content = parseText(text, format);
  return 'value' in content ? content.value : content.problems;
};

/** `line:column message` of each problem. */
function problemsOf(text: string, format: Format = 'yaml'): string[] {
  const { problems } = readDefinition('a file', text, format);
  return problems.map(({ message, place }) =>
    place === undefined ? message : `${place.line}:${place.column} ${message}`,
  );
}

/** Nine levels of lists of nine: 387 million values in 600 characters. */
const bomb = [
  'name: x',
  'a0: &a0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from({ length: 9 }, (_, at) => {
    const alias = Array.from({ length: 9 }, () => `*a${at}`).join(', ');
    return `a${at + 1}: &a${at + 1} [${alias}]`;
  }),
].join('\n');

describe('a file that cannot be read is reported with the position of', () => {
  test.each<[string, string, Format, string]>([
    ['broken YAML', 'name: x\ngraph: [1,\n', 'yaml', '3:1 is not valid: Flow sequence'],
    ['a tab as indentation', 'name: x\ngraph:\n\tnodes: []', 'yaml', '3:1 is not valid: Tabs'],
    ['a key twice', 'name: x\ngraph: {}\nname: y', 'yaml', '3:1 is not valid: Map keys'],
    ['a key twice in JSON', '{"name": "x",\n "name": "y"}', 'json', '2:2 is not valid: Map keys'],
    ['broken JSON', '{"name": "x",\n}', 'json', '2:1 is not JSON: Expected double-quoted'],
    ['JSON without an end', '{"name": "x"', 'json', '1:13 is not JSON'],
    ['YAML as JSON', 'name: x', 'json', '1:8 is not JSON'],
    ['a second document', 'name: x\n---\nname: y', 'yaml', '2:1 has several documents'],
    ['a tag', 'name: !!js/function x', 'yaml', '1:7 is not valid: Unresolved tag'],
    ['a number that is none', 'name: x\nrun_cap_usd: .inf', 'yaml', '2:14 Infinity is not a'],
    ['a rounded number', 'name: x\ngraph: {a: 12345678901234567890}', 'yaml', '2:12 an integer'],
    [
      'a rounded number in a schema',
      'name: x\ninput_schema: {properties: {id: {const: 9223372036854775807}}}',
      'yaml',
      '2:41 an integer',
    ],
    ['aliases that explode', bomb, 'yaml', 'is not valid: its aliases'],
    ['an alias in itself', 'name: x\ngraph: &a {nodes: [*a]}', 'yaml', 'is not valid: its aliases'],
    ['100,000 levels', `name: x\ngraph: ${'['.repeat(100_000)}`, 'yaml', '2:208 has more than'],
    ['100,000 lists', '- '.repeat(100_000), 'yaml', '1:403 has more than 200 levels'],
    ['100,000 levels of JSON', '['.repeat(100_000), 'json', '1:100001 is not JSON'],
    ['nothing', '', 'yaml', 'must contain one object'],
    ['a list', '- name: x', 'yaml', '1:1 must contain one object'],
    ['a key that is a list', '[name]: x', 'yaml', '1:1 is not valid: With stringKeys'],
  ])('%s', (_title, text, format, start) => {
    expect(problemsOf(text, format)[0]?.slice(0, start.length)).toBe(start);
  });

  test.each([
    'input_schema: {properties: {id: {maximum: 9223372036854775807}}}',
    'graph: {nodes: [{id: a}, {tools: [{parameters: {anyOf: [{minimum: -9223372036854775808}]}}]}]}',
  ])('limits of numbers in a schema are accepted: %s', (text) => {
    expect(problemsOf(`name: x\n${text}`, 'yaml').filter((each) => /rounded/.test(each))).toEqual(
      [],
    );
  });
});

describe('a file with settings that a workflow does not have is reported with the position of', () => {
  test.each([
    ['no name', 'graph: {}', '1:1 has no `name`'],
    ['a name of the wrong type', 'graph: {}\nname: [x]', '2:7 name must be a string, not array'],
    ['a name that is empty', 'name: " "', '1:7 name must not be empty'],
    [
      'an unknown key',
      'name: x\ndescripton: y',
      "2:1 unknown key 'descripton'; did you mean 'description'?",
    ],
    ['a key of another resource', 'name: x\nstatus: published', "2:1 unknown key 'status'"],
    ['nodes that are no list', 'name: x\ngraph:\n  nodes: 5', '3:10 graph.nodes must be'],
    [
      'a cap below a cent of a cent',
      'name: x\nrun_cap_usd: -1',
      '2:14 run_cap_usd must be at least',
    ],
    [
      'a check without a value',
      'name: x\nchecks:\n  - {name: a, type: contains}',
      '3:5 checks[0].value is invalid',
    ],
    ['a schema that is no object', 'name: x\ninput_schema: 5', '2:15 input_schema must be a JSON'],
  ])('%s', (_title, text, start) => {
    expect(problemsOf(text)[0]?.slice(0, start.length)).toBe(start);
  });

  test('a problem in JSON', () => {
    expect(problemsOf('{\n\t"name": "x",\n\t"colour": "red"\n}', 'json')).toEqual([
      "3:2 unknown key 'colour'",
    ]);
  });
});

/** The service refuses integers that `JSON.parse` rounds, and -0 comes back as 0. */
const isSendable = (number: number): boolean =>
  !Object.is(number, -0) && (Number.isSafeInteger(number) || /[.e]/.test(String(number)));

const SCHEMA = 'https://example.com/schemas/workflow.json';

describe('a written file', () => {
  const settings = { description: '', input_schema: null, run_cap_usd: null, checks: [] };

  test('of every template reads back unchanged', () => {
    for (const { name, description, graph, checks } of builtInTemplates) {
      const workflow = { ...settings, name, description, graph, checks } as never;
      for (const format of ['yaml', 'json'] as const) {
        const { definition, problems } = readDefinition(
          'a',
          textOf(workflow, format, SCHEMA),
          format,
        );
        expect(problems).toEqual([]);
        expect(differenceOf(workflow, definition!).settings).toEqual([]);
      }
    }
  });

  test('of any texts and values reads back unchanged', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed()),
      fc
        .array(
          fc.constantFrom('a', ' ', '\n', '\r', '\t', '#', ': ', '- ', '"', "'", '\\', '\u0085'),
        )
        .map((parts) => parts.join('')),
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.boolean(),
        fc.constant(null),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isSendable),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(text, json, fc.constantFrom<Format>('yaml', 'json'), (id, params, format) => {
        const graph = { nodes: [{ id, kind: 'tool', params }], edges: [] };
        const written = textOf({ ...settings, name: 'x', graph } as never, format, SCHEMA);
        const key = format === 'json' ? { $schema: SCHEMA } : {};
        expect(valueOf(written, format)).toEqual({ ...key, ...settings, name: 'x', graph });
      }),
      { numRuns: 300 },
    );
  });

  test('has its keys in the order of the contract instead of their own', () => {
    const graph = {
      edges: [{ target: 'b', condition_value: 'error', source: 'a' }],
      nodes: [
        { prompt: 'Answer\n{ticket}\n', zz: 1, aa: 2, kind: 'agent', label: 'A', id: 'a' },
        { kind: 'merge', id: 'b' },
      ],
    };
    expect(textOf({ ...settings, graph, name: 'x' } as never, 'yaml', SCHEMA))
      .toBe(`# yaml-language-server: $schema=https://example.com/schemas/workflow.json
name: x
description: ""
graph:
  nodes:
    - id: a
      label: A
      kind: agent
      prompt: |
        Answer
        {ticket}
      aa: 2
      zz: 1
    - id: b
      kind: merge
  edges:
    - source: a
      target: b
      condition_value: error
input_schema: null
run_cap_usd: null
checks: []
`);
  });
});
