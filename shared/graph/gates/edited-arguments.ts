import type { JsonObject } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import type { StepTool } from './step-tool.ts';

/** The arguments of a call that was requested, and that wait for approval. */
interface RequestedCall {
  tool: string;
  arguments: JsonObject;
  /** By an agent, and not by the step of a node. */
  ofAgent: boolean;
}

/** Why an approver cannot send these arguments instead, apart from the schema of the tool; undefined if they can. */
export function editProblem(
  call: RequestedCall,
  { fixed }: Pick<StepTool, 'fixed'>,
  wanted: JsonObject,
): string | undefined {
  for (const name of fixed) {
    if (canonicalJson(wanted[name]) === canonicalJson(call.arguments[name])) continue;
    return `arguments.${name} is set by the workflow: send it unchanged`;
  }
  const moves = call.tool === 'http_request' && originOf(wanted) !== originOf(call.arguments);
  if (call.ofAgent || !moves) return undefined;
  return 'arguments.url must keep its scheme, host and port';
}

/** Several members would have approved something else. */
export const EDITED_BY_ONE =
  'arguments cannot be changed where several members must approve: reject the call instead';

/** The arguments that the schema of the tool describes. */
export const ownArguments = ({ fixed }: Pick<StepTool, 'fixed'>, wanted: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(wanted).filter(([name]) => !fixed.includes(name)));

const originOf = ({ url }: JsonObject): string | null =>
  typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : null;
