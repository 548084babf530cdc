import { builtinDefinitions } from '#shared/agents/builtin-tools.ts';
import { templateReads } from '#shared/graph/expression/template.ts';
import type { ApprovedNode } from '#shared/graph/node-approval.ts';
import { nodeTexts } from '#shared/graph/node-texts.ts';
import type { JsonObject } from '#shared/json.ts';
import { CALLBACKS } from '#shared/values/callbacks.ts';
import { CONNECTIONS, SECRETS } from '#shared/values/secrets.ts';

/** The tool of a step that needs approval: the schema of its arguments, and those that an approver cannot change. */
export interface StepTool {
  schema: JsonObject;
  fixed: readonly string[];
}

/** Arguments that say where a call goes, and with what rights: no approver can change them. */
const addressing: Readonly<Record<string, readonly string[]>> = {
  http_request: ['method', 'headers'],
  mcp: ['server_url', 'tool', 'headers'],
  send_chat_message: ['webhook_url'],
};

export const ANY_ARGUMENTS: JsonObject = { type: 'object' };

/** The schema of a tool's arguments. `custom`: that of a custom tool, null for one without; undefined: it is none. */
export function schemaOfTool(name: string, custom: JsonObject | null | undefined): JsonObject {
  if (custom !== undefined) return custom ?? ANY_ARGUMENTS;
  const builtin = Object.hasOwn(builtinDefinitions, name) ? name : undefined;
  return builtin === undefined
    ? ANY_ARGUMENTS
    : builtinDefinitions[builtin as keyof typeof builtinDefinitions].schema;
}

/** `custom`: as for `schemaOfTool`. */
export const stepToolOf = (node: ApprovedNode, custom: JsonObject | null | undefined): StepTool =>
  node.kind === 'workflow'
    ? { schema: ANY_ARGUMENTS, fixed: [] }
    : {
        schema: schemaOfTool(node.tool_name, custom),
        fixed: [...(addressing[node.tool_name] ?? []), ...withSecrets(node)],
      };

/** The names of the parameters that contain secrets or addresses of callbacks. */
const withSecrets = (node: ApprovedNode): string[] =>
  nodeTexts(node).flatMap(({ secrets, callbacks, text, path }) =>
    templateReads(text).some(
      ({ key }) =>
        (secrets === true && (key === SECRETS || key === CONNECTIONS)) ||
        (callbacks === true && key === CALLBACKS),
    )
      ? [/^params\.([^.[]+)/.exec(path)?.[1] ?? path]
      : [],
  );
