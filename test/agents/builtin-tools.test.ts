import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { entitySearchParams } from '#activities/tools/entity-search.ts';
import { feedListParams } from '#activities/tools/feed-list.ts';
import { httpRequestParams } from '#activities/tools/http-request.ts';
import { jsonTransformParams } from '#activities/tools/json-transform.ts';
import { parseRecord } from '#activities/tools/records.ts';
import { sendChatMessageParams } from '#activities/tools/send-chat-message.ts';
import { sendEmailParams } from '#activities/tools/send-email.ts';
import { sendEventParams } from '#activities/tools/send-event.ts';
import { sourceReportParams } from '#activities/tools/source-report.ts';
import { builtinDefinitions, notForAgents } from '#shared/agents/builtin-tools.ts';
import type { JsonObject } from '#shared/json.ts';
import { argumentsProblem, checkArgumentSchema } from '#shared/platform/calls/argument-schema.ts';
import { builtinTools, type ToolParams, toolParams } from '#shared/tools.ts';

type Offered = keyof typeof builtinDefinitions;
const offered = Object.keys(builtinDefinitions) as Offered[];

/** Whether the tool itself accepts arguments. */
const parsers: Record<Offered, (args: JsonObject) => boolean> = {
  http_request: by(httpRequestParams),
  send_email: by(sendEmailParams),
  send_chat_message: by(sendChatMessageParams),
  json_transform: by(jsonTransformParams),
  entity_upsert: recordParser('entity_upsert', 'entity'),
  event_emit: recordParser('event_emit', 'event'),
  entity_search: by(entitySearchParams),
  feed_list: by(feedListParams),
  source_report: by(sourceReportParams),
  send_event: by(sendEventParams),
};

function by(schema: z.ZodType) {
  return (args: JsonObject): boolean => schema.safeParse(args).success;
}

function recordParser(tool: string, type: 'entity' | 'event') {
  return (args: JsonObject): boolean => {
    try {
      parseRecord(tool, type, args);
      return true;
    } catch {
      return false;
    }
  };
}

const fits = (tool: Offered, args: JsonObject): boolean =>
  argumentsProblem(builtinDefinitions[tool].schema, args) === undefined;

const entity = {
  feed_id: 'feed_1',
  external_key: 'permit-1',
  entity_type: 'project',
  canonical_name: 'Riverside Tower',
  attributes: { stage: 'permit' },
};
const event = {
  feed_id: 'feed_1',
  external_key: 'permit-1-filed',
  event_type: 'permit_filed',
  primary_external_key: 'permit-1',
  occurred_at: '2026-11-01T00:00:00Z',
  summary: 'A permit was filed',
};
const evidence = { source_id: null, url: 'https://a.test/', synthetic: false };

/** Arguments that both accept, and that both refuse. */
const examples: Record<Offered, { good: JsonObject[]; bad: JsonObject[] }> = {
  http_request: {
    good: [
      { url: 'https://a.test/' },
      { url: 'https://a.test/', method: 'DELETE', headers: { a: 'b', n: 1, on: true } },
      { url: 'https://a.test/', query: { a: ['x', 1, null], b: null, c: true }, body: { a: [1] } },
      { url: 'https://a.test/', body: 'text' },
    ],
    bad: [
      {},
      { url: '' },
      { url: 5 },
      { url: 'https://a.test/', method: 'CONNECT' },
      { url: 'https://a.test/', headers: { a: {} } },
      { url: 'https://a.test/', query: { a: { b: 1 } } },
      { url: 'https://a.test/', timeout: 5 },
    ],
  },
  send_email: {
    good: [
      { to: 'a@b.test', subject: 'Hi', text: 'x' },
      {
        to: ['a@b.test', 'c@d.test'],
        subject: 'Hi',
        html: '<b>x</b>',
        cc: 'e@f.test',
        bcc: ['g@h.test'],
      },
    ],
    bad: [
      { subject: 'Hi', text: 'x' },
      { to: 'a@b.test', text: 'x' },
      { to: 'nobody', subject: 'Hi', text: 'x' },
      { to: [], subject: 'Hi', text: 'x' },
      { to: 'a@b.test', subject: '', text: 'x' },
      { to: 'a@b.test', subject: 'x'.repeat(999), text: 'x' },
      { to: 'a@b.test', subject: 'Hi', text: 'x', from: 'c@d.test' },
    ],
  },
  send_chat_message: {
    good: [{ text: 'Hi' }, { text: 'Hi', webhook_url: 'https://chat.test/x' }],
    bad: [
      {},
      { text: '' },
      { text: [] },
      { text: 'Hi', webhook_url: '' },
      { text: 'Hi', channel: 'x' },
    ],
  },
  json_transform: {
    good: [{ expression: 'len(items) > 3' }],
    bad: [{}, { expression: '' }, { expression: 5 }, { expression: '1', state: {} }],
  },
  entity_upsert: {
    good: [
      entity,
      {
        ...entity,
        aliases: ['RT'],
        external_ids: { county: 'x', city: 5, state: null },
        geography: { city: 'Austin', region: null },
        status: 'open',
        verification_status: 'human_reviewed',
        confidence: 0.5,
        source_evidence: [evidence],
        observed_at: '2026-11-01',
      },
    ],
    bad: [
      {},
      ...Object.keys(entity).map((missing) => without(entity, missing)),
      { ...entity, feed_id: '' },
      { ...entity, entity_type: 'Project' },
      { ...entity, attributes: [] },
      { ...entity, aliases: [''] },
      { ...entity, external_ids: { a: true } },
      { ...entity, geography: { planet: 'Earth' } },
      { ...entity, verification_status: 'sure' },
      { ...entity, confidence: 2 },
      { ...entity, source_evidence: [{ seen: true }] },
      { ...entity, type: 'entity' },
      { ...entity, note: 'x' },
    ],
  },
  event_emit: {
    good: [
      event,
      {
        ...event,
        relevance_score: 3,
        opportunity_score: null,
        match_reason: 'near',
        verification_status: 'unverified',
        confidence: 1,
        source_evidence: [evidence],
      },
    ],
    bad: [
      {},
      ...Object.keys(event).map((missing) => without(event, missing)),
      { ...event, event_type: 'Filed!' },
      { ...event, summary: '' },
      { ...event, relevance_score: 'high' },
      { ...event, type: 'event' },
    ],
  },
  entity_search: {
    good: [
      {},
      { feed_id: 'feed_1', external_key: 'A-1', entity_type: 'order', geography: 'Austin' },
      { confidence_min: 0.5, updated_since: '2026-11-01T00:00:00Z', limit: 100 },
      { confidence_min: 1, created_since: '2026-11-01', limit: 1 },
    ],
    bad: [
      { feed_id: '' },
      { external_key: 'x'.repeat(501) },
      { geography: 5 },
      { confidence_min: 2 },
      { limit: 0 },
      { limit: 101 },
      { limit: 2.5 },
      { cursor: 'x' },
      { query: 'x' },
    ],
  },
  feed_list: {
    good: [{}, { name: 'Orders' }, { name: 'Orders', limit: 5 }],
    bad: [{ name: '' }, { limit: 101 }, { status: 'active' }],
  },
  source_report: {
    good: [
      { source_id: 'src_1', ok: true },
      { name: 'City', ok: false, error: '503', checked_at: '2026-11-01T00:00:00Z' },
      { name: 'City', ok: false, error: null },
    ],
    bad: [
      {},
      { name: 'City' },
      { name: '', ok: true },
      { name: 'City', ok: 'yes' },
      { name: 'City', ok: true, at: 'x' },
    ],
  },
  send_event: {
    good: [
      { name: 'invoice.paid' },
      { name: 'invoice.paid', data: { amount: 5 }, id: 'pay_1' },
      { name: 'invoice.paid', data: [1, 'x'] },
    ],
    bad: [
      {},
      { name: '' },
      { name: 'x'.repeat(101) },
      { name: 'invoice.paid', id: '' },
      { name: 'invoice.paid', to: 'x' },
    ],
  },
};

/** Arguments that only the tool refuses: providers accept no such rule at the top of a schema, or no such format. */
const onlyTheTool: [Offered, JsonObject][] = [
  ['send_email', { to: 'a@b.test', subject: 'Hi' }],
  ['send_email', { to: 'a@b.test', subject: 'two\nlines', text: 'x' }],
  ['source_report', { ok: true }],
  ['source_report', { source_id: 'src_1', name: 'City', ok: true }],
  ['event_emit', { ...event, occurred_at: 'yesterday' }],
  ['entity_search', { updated_since: 'yesterday' }],
  ['send_event', { name: 'invoice paid' }],
  ['send_event', { name: 'run.completed' }],
];

function without(value: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

test('every built-in tool either has a definition for models or is listed as not for agents', () => {
  expect([...offered, ...Object.keys(notForAgents)].sort()).toEqual([...builtinTools].sort());
});

describe.each(offered)('%s', (tool) => {
  const { description, schema } = builtinDefinitions[tool];

  test('has a description, and a schema that providers accept', () => {
    expect(description.length).toBeGreaterThan(20);
    expect(() => checkArgumentSchema(schema)).not.toThrow();
    expect(Object.keys(schema).sort()).toEqual([
      'additionalProperties',
      'properties',
      'required',
      'type',
    ]);
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
  });

  test('has the parameters of a tool node', () => {
    const { required, optional }: ToolParams = toolParams[tool];
    const names = Object.keys(schema['properties'] as JsonObject);
    expect(names.sort()).toEqual([...required.flat(), ...optional].sort());
    expect(schema['required']).toEqual(required.filter((name) => typeof name === 'string'));
  });

  test.each(examples[tool].good)('accepts %j, in the schema and in the tool', (args) => {
    expect({ schema: fits(tool, args), tool: parsers[tool](args) }).toEqual({
      schema: true,
      tool: true,
    });
  });

  test.each(examples[tool].bad)('refuses %j, in the schema and in the tool', (args) => {
    expect({ schema: fits(tool, args), tool: parsers[tool](args) }).toEqual({
      schema: false,
      tool: false,
    });
  });
});

test.each(onlyTheTool)('%s itself refuses %j', (tool, args) => {
  expect({ schema: fits(tool, args), tool: parsers[tool](args) }).toEqual({
    schema: true,
    tool: false,
  });
});
