import { describe, expect, test } from '@jest/globals';
import { requestMapping } from '#shared/contract/tools/request-mapping.ts';
import { checkArgumentSchema } from '#shared/platform/calls/argument-schema.ts';
import { soakCases } from '#test/support/soak.ts';
import { documentText, imported, importOf } from './documents.ts';

/** Each document with the number of its operations that become tools, and why the others do not. */
const documents: [file: string, operations: number, skipped?: Record<string, number>][] = [
  ['adyen-balance-platform-2.json', 91],
  ['adyen-bin-lookup-54.json', 2],
  [
    'adyen-checkout-71.yaml',
    27,
    { 'the schema of its arguments is longer than 65,536 characters': 1 },
  ],
  ['adyen-management-3.json', 134],
  ['api-with-examples-2.json', 2],
  [
    'blockfrost.yaml',
    126,
    {
      'its body is application/cbor, which cannot be sent': 2,
      'its body is a file (multipart/form-data)': 1,
    },
  ],
  [
    'box.json',
    290,
    {
      "its field 'file' is a file": 2,
      'its method OPTIONS is not supported': 2,
      'its body is a file (application/octet-stream)': 1,
      "its field 'pic' is a file": 1,
    },
  ],
  ['circular-request-bodies.json', 4],
  ['complex-nesting.json', 5],
  ['dialogporten.json', 29],
  ['github.json', 1222, { 'its body is a file (application/octet-stream)': 1 }],
  ['hoot.json', 5],
  ['kubernetes.json', 1117, { 'its method OPTIONS is not supported': 6 }],
  ['link-example.yaml', 6],
  ['parameters-style.json', 25],
  ['petstore-2.json', 20],
  ['petstore-3.yaml', 20],
  ['petstore-expanded-2.yaml', 4],
  ['polymorphism.yaml', 13],
  ['rclone.json', 101],
  ['readme-legacy.json', 36],
  ['readme.json', 54],
  ['schema-encoding-style.json', 1],
  ['slack.json', 174],
  ['star-trek.json', 120],
  ['stripe.json', 532, { "its field 'file' is a file": 1 }],
  ['train-travel.json', 7],
  ['twilio-2010.json', 197],
  ['twilio-conversations-1.json', 103],
  ['twilio-messaging-1.json', 58],
  ['twilio-numbers-2.json', 47],
  ['twilio-taskrouter-1.json', 61],
  ['twilio-verify-2.json', 57],
  ['uspto.json', 3],
];

describe('real documents', () => {
  test.each(documents)('%s is imported', (file, count, skipped = {}) => {
    const { operations, ...rest } = imported(documentText(file), {
      server: 'https://api.example.com',
      limit: 2_000,
    });
    const reasons: Record<string, number> = {};
    for (const { reason } of rest.skipped) reasons[reason] = (reasons[reason] ?? 0) + 1;
    expect({ operations: operations.length, reasons }).toEqual({
      operations: count,
      reasons: skipped,
    });
    expect(rest).toMatchObject({ beyond_limit: 0, missing: [] });
    expect(new Set(operations.map(({ name }) => name)).size).toBe(count);
    expect(new Set(operations.map(({ operation }) => operation)).size).toBe(count);
    for (const { name, description, request } of operations) {
      expect(name).toMatch(/^[a-z][a-z0-9_-]{0,63}$/);
      expect(description.length).toBeLessThanOrEqual(1_000);
      expect(requestMapping.parse(request)).toEqual(request);
    }
    // Compiling the schemas of all takes long.
    for (const { operation, input_schema, response_schema } of soakCases(operations, 30)) {
      expect([operation, problemOf(input_schema)]).toEqual([operation, undefined]);
      if (response_schema === null) continue;
      expect([operation, problemOf(response_schema)]).toEqual([operation, undefined]);
    }
  });

  test('that describe webhooks only are refused', () => {
    expect(importOf(documentText('webhooks.json'))).toEqual({
      problem: 'The document has no paths',
    });
  });

  test('of 500 operations and more are cut, and the rest is counted', () => {
    const { operations, beyond_limit } = imported(documentText('github.json'));
    expect({ operations: operations.length, beyond_limit }).toEqual({
      operations: 500,
      beyond_limit: 723,
    });
  });
});

function problemOf(schema: Parameters<typeof checkArgumentSchema>[0]): string | undefined {
  try {
    checkArgumentSchema(schema);
    return undefined;
  } catch (error) {
    return String(error);
  }
}
