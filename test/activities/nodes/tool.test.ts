import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createNodeRunners } from '../../../activities/nodes/runners.ts';
import { createBuiltinTools } from '../../../activities/tools/registry.ts';
import { loadConfig } from '../../../shared/platform/config.ts';
import { createEgress, type Egress } from '../../../shared/platform/egress.ts';
import { builtinTools } from '../../../shared/tools.ts';
import { toolCall } from '../../fakes/node-call.ts';

/** None of these tools keeps records. */
const db = undefined as never;
let egress: Egress;
beforeEach(() => {
  egress = createEgress({ allow: [] });
});
afterEach(() => egress.close());

describe('the tool node', () => {
  it('has a runner for every built-in tool and no others', () => {
    const tools = createBuiltinTools({ db, egress, mailer: undefined, chatWebhookUrl: undefined });
    expect(new Set(Object.keys(tools))).toEqual(builtinTools);
  });

  it('runs what the registry was extended with', async () => {
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
    'refuses the unknown tool %j for good',
    async (name) => {
      const { tool } = createNodeRunners({ db, config: loadConfig({}), egress, mailer: undefined });
      await expect(tool(toolCall(name, {}))).rejects.toMatchObject({
        message: `Unknown tool '${name}'`,
        retryable: false,
      });
    },
  );

  it('refuses a custom tool that is not registered for good', async () => {
    const { tool } = createNodeRunners({ db, config: loadConfig({}), egress, mailer: undefined });
    await expect(tool(toolCall('custom:gone', {}))).rejects.toMatchObject({
      message: "The tool 'custom:gone' is not registered, or not any more",
      retryable: false,
    });
  });
});
