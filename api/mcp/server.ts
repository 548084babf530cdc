import packageJson from '#package.json' with { type: 'json' };
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isInputRequiredResult,
  McpServer,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { requireCapability } from '#shared/people/actor.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { classify } from '#api/http/error-handler.ts';
import { describeIssues } from '#api/http/invalid-request.ts';
import { callDigestOf } from './elicitation-state.ts';
import { serveDocuments } from './documents.ts';
import { budgetTools } from './budget-tools.ts';
import { draftTools } from './draft-tools.ts';
import { dryRunTools } from './dry-run-tools.ts';
import { experimentTools } from './experiment-tools.ts';
import { forkTools } from './fork-tools.ts';
import { inboundEventTools } from './inbound-event-tools.ts';
import { nodeTestTools } from './node-test-tools.ts';
import { policyTools } from './policy-tools.ts';
import { runTools } from './run-tools.ts';
import { lengthOf, shortened } from './shortened.ts';
import { eventTools } from './event-tools.ts';
import { limitTools } from './limit-tools.ts';
import { triggerTools } from './trigger-tools.ts';
import { customToolTools } from './custom-tools.ts';
import { connectionTools } from './connection-tools.ts';
import { scheduleTools } from './schedule-tools.ts';
import { secretTools } from './secret-tools.ts';
import type { Elicitation, McpTool, ToolCall } from './tool.ts';
import { validationTools } from './validation-tools.ts';
import { webhookTools } from './webhook-tools.ts';
import { findWorkflowRunTool, workflowRunTools } from './workflow-run-tools.ts';
import { workflowTools } from './workflow-tools.ts';

/**
 * The maximum length of a result in characters: about what a model's client accepts at once. It is sent twice, as text
 * and as data.
 */
const MAX_RESULT = 60_000;

const instructions =
  'Durable workflows of agents, tools and human gates. Find one with list_workflows, start it with run_workflow or ' +
  'its own tool, ' +
  'follow it with get_run. The resources docs://skill, schema://workflow and docs://graphs say how to write one. A paused run waits for a person, who decides; approve_run submits the decision.';

/** All tools. Each declares the capability that it requires; the gateway itself requires `view`. */
export const tools: readonly McpTool[] = [
  ...workflowTools,
  ...validationTools,
  ...draftTools,
  ...runTools,
  ...dryRunTools,
  ...forkTools,
  ...experimentTools,
  ...nodeTestTools,
  ...webhookTools,
  ...inboundEventTools,
  ...eventTools,
  ...triggerTools,
  ...scheduleTools,
  ...limitTools,
  ...budgetTools,
  ...customToolTools,
  ...secretTools,
  ...connectionTools,
  ...policyTools,
];
const byName = new Map(tools.map((tool) => [tool.name, tool]));
const listed = tools.map((tool) => tool.listed);
const isBuiltIn = (name: string): boolean => byName.has(name);

/** A server for one request of one caller. The SDK's own registry would be rebuilt for each request. */
export function createServer(call: Omit<ToolCall, 'signal'>): McpServer {
  const mcp = new McpServer(
    { name: packageJson.name, title: 'Durable workflows', version: packageJson.version },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
      },
      instructions,
      // Earlier protocols ask over a session, and there are none.
      inputRequired: { legacyShim: false },
    },
  );
  serveDocuments(mcp);
  mcp.server.setRequestHandler('tools/list', async () => {
    const ofWorkflows = await readable(call, () => workflowRunTools(call, isBuiltIn));
    return { tools: [...listed, ...ofWorkflows.map((tool) => tool.listed)] };
  });
  mcp.server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = byName.get(params.name) ?? (await findWorkflowTool(call, params.name));
    if (tool === undefined) {
      throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${params.name.slice(0, 100)}`);
    }
    try {
      const given = params.arguments ?? {};
      const elicitation = elicitationOf(mcpReq, () => callDigestOf(tool.name, given));
      return await callTool(tool, { ...call, signal: mcpReq.signal, elicitation }, given);
    } catch (error) {
      return refuse(tool, call, error);
    }
  });
  return mcp;
}

/** The tool of a workflow; undefined for an unknown name. */
async function findWorkflowTool(
  call: Omit<ToolCall, 'signal'>,
  name: string,
): Promise<McpTool | undefined> {
  if (!name.startsWith('run_')) return undefined;
  return readable(call, () => findWorkflowRunTool(call, name, isBuiltIn));
}

/** Outside a tool, an error is an error of the protocol. Its text must not show internals either. */
async function readable<T>(
  { context }: Pick<ToolCall, 'context'>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const { code, detail } = classify(error);
    if (code === 'internal') context.log.error({ err: error }, 'tools could not be listed');
    throw new ProtocolError(INTERNAL_ERROR, detail);
  }
}

const offered = z.object({
  elicitation: z.object({ form: z.unknown(), url: z.unknown() }).partial(),
});

/** What the client of a call offers, by the stateless protocol. An answer without the offer counts, too. */
function elicitationOf(
  { envelope, inputResponses, requestState }: ServerContext['mcpReq'],
  call: () => string,
): Elicitation | undefined {
  const declared = (envelope as Record<string, unknown> | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ];
  const { data } = offered.safeParse(declared);
  const state = requestState<string>();
  // Without it, the request is of an earlier protocol.
  if (envelope === undefined) return undefined;
  if (data === undefined && state === undefined) return undefined;
  const { form, url } = data?.elicitation ?? { form: false, url: false };
  return {
    // Without a mode, it means forms.
    modes: { form: Boolean(form) || (form === undefined && url === undefined), url: Boolean(url) },
    call: call(),
    state,
    responses: inputResponses,
  };
}

async function callTool(
  tool: McpTool,
  call: ToolCall,
  given: unknown,
): Promise<CallToolResult | InputRequiredResult> {
  requireCapability(call.actor, tool.capability);
  const args = tool.input.safeParse(given);
  if (!args.success) {
    throw new AppError('invalid', describeIssues('arguments', args.error.issues));
  }
  const result = await tool.handle(call, args.data);
  if (isInputRequiredResult(result)) return result;
  const shown = tool.output.parse(result);
  return answer(shown as JsonObject, tool.explain?.(shown, call));
}

function answer(result: JsonObject, explanation?: string): CallToolResult {
  const length = lengthOf(result);
  const shown = length <= MAX_RESULT ? result : (shortened(result, MAX_RESULT) as JsonObject);
  const content: CallToolResult['content'] = [{ type: 'text', text: JSON.stringify(shown) }];
  if (explanation !== undefined) content.push({ type: 'text', text: explanation });
  if (length > MAX_RESULT) {
    content.push({
      type: 'text',
      text: `Shortened from ${length} characters: long texts are cut and long lists end early. The HTTP API returns everything.`,
    });
  }
  return { content, structuredContent: shown };
}

/** An error that the HTTP API would report as a status and a detail. A model reads it as the tool's error. */
function refuse(
  tool: McpTool,
  { context }: Pick<ToolCall, 'context'>,
  error: unknown,
): CallToolResult {
  const { code, detail, current, needsSignIn } = classify(error);
  if (code === 'internal') context.log.error({ err: error, tool: tool.name }, 'tool failed');
  const content: CallToolResult['content'] = [{ type: 'text', text: detail }];
  if (current != null) {
    const shown = shortened({ current } as JsonObject, MAX_RESULT);
    content.push({ type: 'text', text: JSON.stringify(shown) });
  }
  // Only a person can sign in, at the address in it.
  if (needsSignIn !== undefined) {
    content.push({ type: 'text', text: JSON.stringify({ needs_sign_in: needsSignIn }) });
  }
  return { content, isError: true };
}
