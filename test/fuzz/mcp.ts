import fc from 'fast-check';
import type { Random } from '#test/storm/random.ts';
import { arbitraryOf, type Taste } from './arbitrary.ts';
import type { Operation, Schema } from './document.ts';
import { giveMeaning, type Source } from './meaning.ts';
import type { State } from './state.ts';

/** A tool as `tools/list` returns it. */
export interface McpTool {
  name: string;
  inputSchema: Schema;
  outputSchema?: Schema;
}

const STATELESS = '2026-07-28';
const versions = ['2025-11-25', '2025-06-18', '2024-11-05', '1.0', ''];

interface Composer extends Source {
  tools: readonly McpTool[];
  taste: Taste;
  operation: Operation;
}

/** A message of the protocol, usually a tool call that its input schema allows. */
export function mcpMessage(composer: Composer, random: Random): unknown {
  const id = random.pick<unknown>([1, 7, 'a', composer.serial]);
  const make = random.weighted<() => object>([
    [12, () => toolCall(composer, random)],
    [2, () => ({ method: 'tools/list', params: {} })],
    [1, () => ({ method: 'ping' })],
    [
      1,
      () => ({
        method: 'initialize',
        params: {
          protocolVersion: random.pick(versions),
          capabilities: {},
          clientInfo: { name: 'fuzz', version: '1' },
        },
      }),
    ],
    [
      1,
      () => ({
        method: random.pick([
          'resources/list',
          'prompts/get',
          'tools/none',
          '',
          'server/discover',
          'logging/setLevel',
        ]),
        params: {},
      }),
    ],
    [
      1,
      () => ({
        method: 'tools/call',
        params: { name: random.pick(['unknown', '', 'toString', '__proto__']), arguments: {} },
      }),
    ],
    [
      1,
      () => ({
        method: 'tools/call',
        params: random.pick<unknown>([null, [], 'x', {}, { name: 1 }]),
      }),
    ],
  ]);
  const message: { id: unknown; params?: object } = { jsonrpc: '2.0', id, ...make() } as never;
  if (random.chance(0.05)) return { jsonrpc: '2.0', method: 'notifications/initialized' };
  if (random.chance(0.03)) return [message, { ...message, id: 'second' }];
  return random.chance(0.5) ? stateless(message) : message;
}

function toolCall(composer: Composer, random: Random): object {
  const { tools, operation, state, taste } = composer;
  const tool = random.pick(tools);
  const seed = random.int(0, 2 ** 31 - 1);
  // The schema of a tool refers to its own definitions.
  const document = { ...operation.document, ...tool.inputSchema };
  const [drawn] = fc.sample(arbitraryOf(tool.inputSchema, document, taste), { numRuns: 1, seed });
  const args = giveMeaning(drawn, operation, composer) as Record<string, unknown>;
  if ('run_id' in args) args['run_id'] = runFor(tool.name, state, random) ?? args['run_id'];
  if ('workflow' in args) args['workflow'] = state.id('wf', random) ?? args['workflow'];
  // Waiting only takes time.
  if ('wait_seconds' in args) args['wait_seconds'] = random.pick([0, 0, 0, 0.05]);
  return { method: 'tools/call', params: { name: tool.name, arguments: args } };
}

const runStates: Record<string, readonly string[]> = {
  approve_run: ['paused'],
  resume_run: ['failed'],
  cancel_run: ['running', 'paused', 'pending'],
};

const runFor = (tool: string, state: State, random: Random): string | undefined =>
  state.id('run', random, runStates[tool]);

const META = 'io.modelcontextprotocol';

/** The message as clients of the stateless protocol send it. */
function stateless(message: { params?: object }): object {
  return {
    ...message,
    params: {
      ...message.params,
      _meta: {
        [`${META}/protocolVersion`]: STATELESS,
        [`${META}/clientInfo`]: { name: 'fuzz', version: '1' },
        [`${META}/clientCapabilities`]: {},
      },
    },
  };
}

/** The headers for a message of that protocol version. */
export function mcpHeaders(json: unknown): Record<string, string> {
  const { method, params } = (json ?? {}) as { method?: string; params?: Record<string, any> };
  if (params?.['_meta']?.[`${META}/protocolVersion`] !== STATELESS) return {};
  const name = params['name'] as unknown;
  return {
    'mcp-protocol-version': STATELESS,
    'mcp-method': printable(method),
    ...(typeof name === 'string' ? { 'mcp-name': printable(name) } : {}),
  };
}

const printable = (text = ''): string => text.replaceAll(/[^\x20-\x7e]/g, '?');

interface JsonRpc {
  jsonrpc?: unknown;
  id?: unknown;
  result?: any;
  error?: { code?: unknown; message?: unknown };
}

export interface McpProblem {
  at: string;
  problem: string;
}

/** The message, or the messages of a list: the schema describes one message, and lists only in prose. */
export const messagesOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** The problems of a protocol response. `validate`: checks a value against a tool's output schema. */
export function mcpProblems(
  sent: unknown,
  answered: unknown,
  validate: (tool: string, value: unknown) => McpProblem[],
): McpProblem[] {
  const questions = messagesOf(sent ?? {}) as {
    id?: unknown;
    method?: string;
    params?: any;
  }[];
  const replies = messagesOf(answered) as JsonRpc[];
  return replies.flatMap((reply) => {
    if (reply.jsonrpc !== '2.0') return [{ at: '/jsonrpc', problem: 'is not 2.0' }];
    if ('result' in reply === 'error' in reply) {
      return [{ at: '', problem: 'has not exactly one of result and error' }];
    }
    if (reply.error !== undefined) return errorProblems(reply.error);
    const question = questions.find(({ id }) => id === reply.id);
    if (question === undefined) return [{ at: '/id', problem: 'is of no request' }];
    if (question.method !== 'tools/call') return [];
    return resultProblems(reply.result, String(question.params?.name), validate);
  });
}

const errorProblems = ({ code, message }: { code?: unknown; message?: unknown }): McpProblem[] => [
  ...(Number.isInteger(code) ? [] : [{ at: '/error/code', problem: 'is no whole number' }]),
  ...(typeof message === 'string' ? [] : [{ at: '/error/message', problem: 'is no text' }]),
  // -32603 is an internal error: always a problem.
  ...(code === -32603
    ? [{ at: '/error/code', problem: `is an internal error: ${String(message)}` }]
    : []),
];

function resultProblems(
  result: any,
  tool: string,
  validate: (tool: string, value: unknown) => McpProblem[],
): McpProblem[] {
  if (!Array.isArray(result?.content)) return [{ at: '/result/content', problem: 'is no list' }];
  const text: unknown = result.content[0]?.text;
  if (typeof text !== 'string') return [{ at: '/result/content/0/text', problem: 'is no text' }];
  if (result.isError === true) {
    return text === 'Internal error' ? [{ at: '/result', problem: 'is an internal error' }] : [];
  }
  return validate(tool, result.structuredContent);
}
