import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createNodeRunners } from '#activities/nodes/runners.ts';
import { createBuiltinTools } from '#activities/tools/registry.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createEgress, type Egress } from '#shared/platform/egress/egress.ts';
import { entityRecordFields, eventRecordFields } from '#shared/contract/data/ingest.ts';
import { messageOf } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { builtinTools, type ToolParams, toolParams } from '#shared/tools.ts';
import { toolCall } from '#test/fakes/node-call.ts';

/** None of these tools uses the database. */
const db = undefined as never;
let egress: Egress;
beforeEach(() => {
  egress = createEgress({ allow: [] });
});
afterEach(() => egress.close());

describe('the tool node', () => {
  it('has a runner for every built-in tool and no others', () => {
    const tools = createBuiltinTools({
      db,
      sealer: undefined,
      egress,
      mailer: undefined,
      chatWebhookUrl: undefined,
      onEvent: () => undefined,
      onChange: async () => undefined,
    });
    expect(new Set(Object.keys(tools))).toEqual(builtinTools);
  });

  it.each([
    ['entity_upsert', entityRecordFields],
    ['event_emit', eventRecordFields],
  ] as const)('takes record fields as %s parameters', (name, fields) => {
    const { required, optional } = toolParams[name];
    expect([...required, ...optional].sort()).toEqual(['feed_id', ...Object.keys(fields)].sort());
    const needed = Object.entries(fields).filter(
      ([, schema]) => !schema.safeParse(undefined).success,
    );
    expect([...required].sort()).toEqual(['feed_id', ...needed.map(([field]) => field)].sort());
  });

  it.each(
    Object.entries<ToolParams>(toolParams).filter(
      ([, { required }]) => !required.includes('feed_id'),
    ),
  )(
    'runs %s with the parameters that validation allows, and no others',
    async (name, { required, optional }) => {
      const { tool } = createNodeRunners({
        db,
        config: loadConfig({}),
        egress,
        mailer: {} as never,
      });
      const refusalOf = (params: JsonObject): Promise<string> =>
        tool(toolCall(name, params)).then(() => 'none', messageOf);
      expect(await refusalOf({ surely_unknown: 1 })).toContain('surely_unknown');
      const [first] = required.flat();
      if (first !== undefined) expect(await refusalOf({})).toContain(`'${first}'`);
      // Values of a wrong type are refused by parameter name, and none as an unknown parameter.
      const all = Object.fromEntries([...required.flat(), ...optional].map((each) => [each, [[]]]));
      expect(await refusalOf(all)).not.toMatch(/unknown parameter|Unrecognized/i);
    },
  );

  it('runs tools added to the registry', async () => {
    const { tool } = createNodeRunners({
      db,
      config: loadConfig({}),
      egress,
      mailer: undefined,
      tools: { 'custom:echo': async (call) => ({ output: call.params, costMicros: 7 }) },
    });
    expect(await tool(toolCall('custom:echo', { a: 1 }))).toEqual({
      output: { a: 1 },
      costMicros: 7,
    });
  });

  it.each(['nothing', 'constructor', '__proto__', ''])(
    'refuses the unknown tool %j permanently',
    async (name) => {
      const { tool } = createNodeRunners({ db, config: loadConfig({}), egress, mailer: undefined });
      await expect(tool(toolCall(name, {}))).rejects.toMatchObject({
        message: `Unknown tool '${name}'`,
        retryable: false,
      });
    },
  );

  it('refuses an unregistered custom tool permanently', async () => {
    const { tool } = createNodeRunners({ db, config: loadConfig({}), egress, mailer: undefined });
    await expect(tool(toolCall('custom:gone', {}))).rejects.toMatchObject({
      message: "The tool 'custom:gone' is not registered",
      retryable: false,
    });
  });
});
