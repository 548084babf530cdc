import { createTurnRunner } from '#activities/nodes/agent-turn.ts';
import type { TurnCall, TurnResult } from '#activities/nodes/model-turn.ts';
import { createKeyCutter, createModels } from '#shared/platform/calls/models.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { offeredTool, turnCall } from '#test/fakes/node-call.ts';
import { type ModelServer, startModelServer } from './model-server.ts';
import type { Said } from './model-server-said.ts';

/** The key of every provider but `compatible`, which needs none. */
export const KEY = 'sk-test-0123456789abcdef';

export const models = [
  'openai/gpt-4o',
  'anthropic/claude-haiku-4-5',
  'google/gemini-3-flash-preview',
  'compatible/llama-4',
];

const PRICES = Object.fromEntries(
  [...models, 'google/gemini-2.5-flash'].map((model) => [
    model,
    { inputUsd: 1, outputUsd: 10, cachedInputUsd: 0.1 },
  ]),
);

export const offered = [
  offeredTool('custom:find', { id: { type: 'number' } }),
  offeredTool('http_request', { url: { type: 'string' } }),
];

export const twoCalls: Said = {
  text: 'Let me see.',
  calls: [
    { id: 'call_a', name: 'custom_find', arguments: { id: 7 } },
    { id: 'call_b', name: 'http_request', arguments: { url: 'http://x' } },
  ],
};

export type AskedTurn = Parameters<typeof turnCall>[0];

export interface Turns {
  server: ModelServer;
  /** Asks for a turn once; with `deltas`, as a stream. */
  ask: (model: string, call?: AskedTurn, deltas?: string[]) => Promise<TurnResult>;
  close: () => Promise<void>;
}

/** Turns of models whose providers are one fake. */
export async function startTurns(...script: Parameters<typeof startModelServer>): Promise<Turns> {
  const server = await startModelServer(...script);
  const egress = createEgress({ allow: ['127.0.0.1'] });
  const { models: settings } = loadConfig({
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${server.url}/v1`,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: `${server.url}/v1`,
    GOOGLE_API_KEY: KEY,
    GOOGLE_BASE_URL: `${server.url}/v1beta`,
    COMPATIBLE_BASE_URL: `${server.url}/v1`,
  });
  const run = createTurnRunner({
    findModel: createModels(settings, egress),
    keys: createKeyCutter(settings),
  });
  return {
    server,
    ask: (model, call = {}, deltas) => {
      const onText = deltas && { onText: (delta: string) => void deltas.push(delta) };
      const asked = {
        tools: offered,
        prices: PRICES,
        ...call,
        node: { model, ...call.node },
        ...onText,
      };
      return run(turnCall(asked));
    },
    close: async () => {
      await egress.close();
      await server.close();
    },
  };
}

/** The conversation after a turn with these results, in the order of its calls. */
export const after = (
  { said }: TurnResult,
  results: TurnCall['conversation']['turns'][number]['results'],
): TurnCall['conversation'] => ({
  system: 'Be brief.',
  prompt: 'Which?',
  turns: [{ ...said, results }],
});
