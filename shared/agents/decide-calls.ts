import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import { titleOfCall } from '#shared/graph/gates/title.ts';
import { truthy } from '#shared/graph/expression/expression.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { inChat } from '#shared/values/markup.ts';
import type { RequestedCall } from './conversation.ts';
import { askAbout } from './question.ts';
import type { RecordedCall } from './turn-record.ts';

/** What a turn knows about the calls that it can make. */
export interface CallContext {
  agent: Pick<AgentPart, 'fixed' | 'state'>;
  tools: readonly OfferedTool[];
  /** The number of calls in earlier turns, by tool. */
  made: ReadonlyMap<string, number>;
}

/** How calls are examined: the texts come from tenants, so the caller decides where. */
export interface CallChecks {
  /** Why arguments do not match a schema, or the schema's problem. */
  arguments: (
    schema: JsonObject,
    args: JsonObject,
  ) => Promise<{ problem?: string; schemaProblem?: string }>;
  evaluate: (
    expression: string,
    scope: JsonObject,
  ) => Promise<{ value: Json } | { problem: string }>;
  /** The arguments as people outside of the run see them. */
  redact: (args: JsonObject) => Promise<Json>;
}

/** Decides about each call that a model has requested: whether it is made, with what, and who must approve it. */
export async function decideCalls(
  requested: readonly RequestedCall[],
  { agent, tools, made }: CallContext,
  checks: CallChecks,
): Promise<RecordedCall[]> {
  const used = new Map(made);
  const recorded: RecordedCall[] = [];
  for (const call of requested) {
    const decided = await decideCall(call, { agent, tools, made: used }, checks);
    if (decided.refusal === undefined) used.set(call.tool, (used.get(call.tool) ?? 0) + 1);
    recorded.push(decided);
  }
  return recorded;
}

async function decideCall(
  call: RequestedCall,
  { agent, tools, made }: CallContext,
  checks: CallChecks,
): Promise<RecordedCall> {
  if (call.refusal !== undefined) return call;
  const refuse = (refusal: string): RecordedCall => ({ ...call, refusal });
  const tool = tools.find(({ name }) => name === call.tool);
  if (tool === undefined) return refuse(`There is no tool '${call.tool}'`);
  if (typeof call.given === 'string') return refuse('The arguments are not a JSON object');
  if (tool.maxCalls !== undefined && (made.get(tool.name) ?? 0) >= tool.maxCalls) {
    const times = `${tool.maxCalls} ${tool.maxCalls === 1 ? 'time' : 'times'}`;
    return refuse(`'${tool.name}' can be called ${times} here, and has been`);
  }
  const { problem, schemaProblem } = await checks.arguments(tool.schema, call.given);
  if (schemaProblem !== undefined) return refuse(`The schema of '${tool.name}' ${schemaProblem}`);
  if (problem !== undefined) return refuse(`The arguments do not fit the schema: ${problem}`);
  const args = { ...givenFor(tool.name, call.given), ...agent.fixed?.[tool.name] };
  const recorded = {
    ...call,
    arguments: args,
    schema_digest: tool.schemaDigest,
    ...(tool.toolDigest === null ? {} : { tool_digest: tool.toolDigest }),
  };
  if (!(await needsApproval(tool.approval, { ...agent.state, args }, checks))) return recorded;
  const redacted = await checks.redact(args);
  const title = titleOfCall(tool.name, redacted, tool.title);
  return { ...recorded, title, ...askAbout(tool.name, redacted) };
}

/** A model writes plain text, not chat markup: what it has read could otherwise make it notify everyone. */
const givenFor = (tool: string, given: JsonObject): JsonObject =>
  tool === 'send_chat_message' && typeof given['text'] === 'string'
    ? { ...given, text: inChat(given['text']) }
    : given;

/** An expression that fails requires an approval. */
async function needsApproval(
  approval: string,
  scope: JsonObject,
  { evaluate }: CallChecks,
): Promise<boolean> {
  if (approval === 'always') return true;
  if (approval === 'never') return false;
  const outcome = await evaluate(approval, scope);
  return 'problem' in outcome || truthy(outcome.value);
}
