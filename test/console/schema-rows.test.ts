import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '#client/index.ts';
import {
  newRow,
  otherKeywords,
  problemOfRow,
  rowsOfSchema,
  rowTypes,
  schemaOfRows,
  type SchemaRow,
  withType,
} from '#console/src/parts/forms/schema-builder/schema-rows.ts';
import { rewrite, describeConsole } from './browser.ts';
import { obstacles } from './axe.ts';

const names = fc.constantFrom('a', 'total', 'cost_center', 'ä', 'with space', '__proto__', '');
const types = fc.constantFrom<unknown>(
  ...['string', 'number', 'integer', 'boolean', 'array', 'object', 'null', undefined],
  ...[['string', 'null'], ['string', 'number'], 7],
);
const keywords = {
  title: fc.oneof(fc.string(), fc.constant(7)),
  description: fc.string(),
  default: fc.jsonValue(),
  format: fc.constantFrom('date', 'email'),
  enum: fc.array(fc.oneof(fc.constantFrom('x', 'y'), fc.integer())),
  minimum: fc.integer(),
  items: fc.constantFrom<unknown>({ type: 'string' }, { type: 'object' }, true),
  additionalProperties: fc.boolean(),
  anyOf: fc.constant([{ minLength: 1 }]),
  required: fc.oneof(fc.array(names), fc.constant('a')),
};
const { schema } = fc.letrec<{ schema: unknown; object: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    fc.record({ ...keywords, type: types, properties: tie('object') }, { requiredKeys: [] }),
  ),
  object: fc.dictionary(names, tie('schema'), { maxKeys: 4 }),
}));

const rowsAs = (rows: readonly SchemaRow[]): unknown[] =>
  rows.map(({ key: _, property: __, rows: inner, ...row }) => ({ ...row, rows: rowsAs(inner) }));

describe('the rows of a schema', () => {
  test('make the schema again, regardless of what it has', () => {
    let shown = 0;
    fc.assert(
      fc.property(schema, (given) => {
        const rows = rowsOfSchema(given);
        if (rows === undefined) return;
        const kept = rows.length > 0 || otherKeywords(given).length > 0;
        if (kept) shown += 1;
        expect(schemaOfRows(rows, given as JsonObject)).toEqual(kept ? given : undefined);
      }),
      { numRuns: 2_000 },
    );
    expect(shown).toBeGreaterThan(100);
  });

  test('show a property without a name as JSON only, also in an object', () => {
    const given = { properties: { a: { type: 'object', properties: { '': false } } } };
    const rows = rowsOfSchema(given)!;
    expect(rowsAs(rows)).toMatchObject([{ name: 'a', type: 'json' }]);
    expect(schemaOfRows(rows, given)).toEqual(given);
    expect(rowsOfSchema(given.properties.a)).toBeUndefined();
  });

  const rowWith = (inner: fc.Arbitrary<SchemaRow[]>): fc.Arbitrary<SchemaRow> =>
    fc
      .record({
        name: fc.stringMatching(/^[a-z][a-z0-9_]{0,5}$/),
        type: fc.constantFrom(...rowTypes),
        required: fc.boolean(),
        label: fc.constantFrom('', 'Cost center'),
        help: fc.constantFrom('', 'What it is for'),
        choices: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 }),
        rows: inner,
      })
      .map(({ choices, rows, ...given }) => ({
        ...newRow(),
        ...given,
        choices: given.type === 'choice' ? choices : [],
        rows: given.type === 'object' ? rows : [],
      }));
  const rowsWith = (inner: fc.Arbitrary<SchemaRow[]>) =>
    fc.uniqueArray(rowWith(inner), { maxLength: 4, selector: ({ name }) => name });
  const nested = rowsWith(rowsWith(fc.constant([])));

  test('are what the schema that they made shows', () => {
    fc.assert(
      fc.property(nested, (rows) => {
        const made = schemaOfRows(rows, undefined);
        expect(rowsAs(rowsOfSchema(made) ?? [])).toEqual(rowsAs(rows));
      }),
    );
  });

  const amount: JsonObject = {
    type: 'object',
    additionalProperties: false,
    properties: {
      amount: { type: 'number', minimum: 1, title: 'Amount' },
      who: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
    required: ['amount', 'elsewhere'],
  };

  test('keep what they do not show when another part is edited', () => {
    const [first, ...others] = rowsOfSchema(amount) ?? [];
    const edited = { ...first!, name: 'total', help: 'In euros', start: 5 };
    expect(schemaOfRows([edited, ...others], amount)).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: {
        total: { type: 'number', minimum: 1, title: 'Amount', description: 'In euros', default: 5 },
        who: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      },
      required: ['elsewhere', 'total'],
    });
  });

  test('leave out the limits and the default of a type that they no longer have', () => {
    const [first] = rowsOfSchema(amount) ?? [];
    expect(schemaOfRows([{ ...withType(first!, 'date'), label: '' }], undefined)).toEqual({
      type: 'object',
      properties: { amount: { type: 'string', format: 'date' } },
      required: ['amount'],
    });
  });

  test.each([[{ type: 'array' }], [{ properties: [] }], [{ required: 'a' }], [true], [null]])(
    'do not show %j',
    (other) => expect(rowsOfSchema(other)).toBeUndefined(),
  );

  test('say which of them are not in the schema, and why', () => {
    const rows = ['', 'a', 'a', 'a b'].map((name) => ({ ...newRow(), name }));
    const choice = { ...newRow(), name: 'c', type: 'choice' as const };
    expect([...rows, choice].map((_, at) => problemOfRow([...rows, choice], at))).toEqual([
      ...['noName', undefined, 'twice', 'unreadable', 'noChoices'],
    ]);
    expect(Object.keys(schemaOfRows(rows, undefined)?.['properties'] as object)).toEqual([
      'a',
      'a b',
    ]);
  });
});

describeConsole('a schema in the console', (stage) => {
  test('is built with the keyboard, shows its form, and keeps what rows do not show', async () => {
    const { call, open } = stage();
    const graph = { nodes: [{ id: 'ask', kind: 'human_gate', prompt: 'Go?' }], edges: [] };
    const { body } = await call('POST', '/api/workflows', { name: 'Form', graph });
    const { page, context, problems } = await open(`/workflows/${body.id}/edit?node=ask`);
    const form = page.getByRole('group', { name: 'Form', exact: true });
    await form.getByRole('button', { name: 'Add field' }).press('Enter');
    // The name of the new field has the focus.
    await page.keyboard.type('amount');
    await page.keyboard.press('Tab');
    await form.getByLabel('Type of field 1').selectOption('Number');
    await form.getByRole('checkbox', { name: 'Required' }).press('Space');
    await form.getByRole('button', { name: 'Add field' }).press('Enter');
    await page.keyboard.type('amount');
    await form.getByText('Another field has this name').waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('cost center');
    await form.getByText(/Use only letters, digits/).waitFor();
    await form.getByLabel('Name of field 2').fill('method');
    await form.getByLabel('Type of field 2').selectOption('Choice');
    await form.getByText('Add at least one choice').waitFor();
    await form.getByLabel('Choices of field 2').fill('card');
    await page.keyboard.press('Enter');
    await page.keyboard.type('bank');
    await page.keyboard.press('Enter');
    await form.getByRole('button', { name: 'Details of field 2' }).press('Enter');
    await form.getByLabel('Label').fill('How to pay');
    await form.getByLabel('Default', { exact: true }).selectOption('bank');
    await form.getByRole('button', { name: 'Preview form' }).click();
    const preview = form.getByRole('group', { name: 'Form of Form' });
    await preview.getByLabel('How to pay').waitFor();
    expect(await preview.getByLabel('How to pay').inputValue()).toBe('1');
    expect(await obstacles(page)).toEqual([]);

    const as = form.getByRole('radiogroup', { name: 'Edit Form as' });
    await as.getByText('JSON').click();
    const text = form.getByRole('textbox', { name: 'Form', exact: true });
    const made = {
      type: 'object',
      properties: {
        amount: { type: 'number' },
        method: { type: 'string', enum: ['card', 'bank'], title: 'How to pay', default: 'bank' },
      },
      required: ['amount'],
    };
    expect(JSON.parse(await text.innerText())).toEqual(made);
    await rewrite(text, JSON.stringify({ ...made, additionalProperties: false }));
    await as.getByText('Fields').click();
    await form.getByText('Also has additionalProperties.').waitFor();
    await form.getByRole('button', { name: 'Remove field 2' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Draft saved').waitFor();
    const saved = await call('GET', `/api/workflows/${body.id}/draft`);
    expect(saved.body.graph.nodes[0].input_schema).toEqual({
      type: 'object',
      properties: { amount: { type: 'number' } },
      required: ['amount'],
      additionalProperties: false,
    });
    await as.getByText('JSON').click();
    await rewrite(text, '{"type": "object", "properties": []}');
    await form.getByText('Edited as JSON, because').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
