import type { AgentNode, AgentTool } from '#shared/contract/workflows/graph.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import { hint } from '#shared/graph/suggest.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { calledAs, customToolName, workflowOf } from '#shared/tools.ts';
import { builtinDefinitions, notForAgents, type ToolDefinition } from './builtin-tools.ts';
import type { OfferedTool } from './offered-tool.ts';

/**
 * What a tool call reaches: where a custom tool sends it and how, or the version of a workflow that it runs. A call's
 * approval is bound to it.
 */
export type CallTarget = JsonObject;

/** The fields of a custom tool that determine how it is offered. */
export interface CustomToolDefinition {
  label: string;
  description: string;
  input_schema: JsonObject | null;
  /** Undefined where calls are only checked, not made. */
  target?: CallTarget;
}

/** A workspace's own tools, by name, without `custom:`. */
export type CustomToolDefinitions = ReadonlyMap<string, CustomToolDefinition>;

/** The fields of a workflow's current version that determine how it is offered, or why there is no such workflow. */
export type WorkflowDefinition =
  | { name: string; description: string; input_schema: JsonObject | null; target?: CallTarget }
  | { problem: string };

/** Workflows by the id or name under which an agent offers them. */
export type WorkflowDefinitions = ReadonlyMap<string, WorkflowDefinition>;

/** What agents can offer besides the built-in tools. */
export interface ToolDefinitions {
  customTools: CustomToolDefinitions;
  /** Undefined where the workflows are not known, so that any may exist. */
  workflows?: WorkflowDefinitions;
}

/** Why a tool cannot be offered. */
export interface ToolProblem {
  code: string;
  message: string;
  /** The path within the node, such as `tools[1].fixed.amount`. */
  path: string;
}

/** A tool as it will be offered. Its digest needs a hash function, which not every caller has. */
export type ResolvedTool = Omit<OfferedTool, 'schemaDigest' | 'toolDigest'> & {
  target: CallTarget | undefined;
};

/** The maximum length of a name that providers accept. */
const MAX_PROVIDER_NAME = 64;

/** A tool's name for providers: they allow letters, digits, `_` and `-`. */
export const providerNameOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, MAX_PROVIDER_NAME);

/**
 * The tools that an agent offers to its model. `digest` is `jsonDigest`: workflow code and browsers have no hash
 * function. A tool with a problem is missing from `tools`.
 */
export function offeredTools(
  node: Pick<AgentNode, 'tools'>,
  definitions: ToolDefinitions,
  digest: (schema: JsonObject) => string,
): { tools: OfferedTool[]; problems: ToolProblem[] } {
  const { tools, problems } = resolveTools(node, definitions);
  return {
    tools: tools.map(({ target, ...tool }) => ({
      ...tool,
      schemaDigest: digest(tool.schema),
      toolDigest: target === undefined ? null : digest(target),
    })),
    problems,
  };
}

/** Like `offeredTools`, but without digests. An unknown workflow has neither a tool nor a problem. */
export function resolveTools(
  node: Pick<AgentNode, 'tools'>,
  definitions: ToolDefinitions,
): { tools: ResolvedTool[]; problems: ToolProblem[] } {
  const tools: ResolvedTool[] = [];
  const problems: ToolProblem[] = [];
  const taken = new Map<string, string>();
  agentToolsOf(node).forEach((entry, at) => {
    const path = `tools[${at}]`;
    const provider = providerNameOf(entry.name);
    const other = taken.get(provider);
    taken.set(provider, entry.name);
    const found =
      other === undefined ? resolveTool(entry, path, definitions) : [collision(entry, other, path)];
    if (Array.isArray(found)) problems.push(...found);
    else tools.push(found);
  });
  return { tools, problems };
}

function collision({ name }: AgentTool, other: string, path: string): ToolProblem {
  if (name === other) {
    return { code: 'duplicate_tool', message: `the tool '${name}' is listed twice`, path };
  }
  const message = `the tools '${other}' and '${name}' would have the same name '${providerNameOf(name)}' for the model`;
  return { code: 'tool_names_collide', message, path };
}

function resolveTool(
  entry: AgentTool,
  path: string,
  definitions: ToolDefinitions,
): ResolvedTool | ToolProblem[] {
  const { name, fixed = {} } = entry;
  const definition = definitionOf(name, definitions);
  if (definition === undefined) return [];
  if ('code' in definition) return [{ ...definition, path }];
  const schema = entry.parameters ?? definition.schema;
  const problem = schemaProblemOf(name, schema);
  if (problem !== undefined) return [{ ...problem, path }];
  const objectSchema = schema as JsonObject;
  const problems = fixedProblems(name, fixed, objectSchema, path);
  if (problems.length > 0) return problems;
  return {
    name,
    providerName: providerNameOf(name),
    description: entry.description ?? definition.description,
    schema: withoutArguments(objectSchema, Object.keys(fixed)),
    approval: entry.approval ?? 'never',
    title: entry.title,
    fixed: Object.keys(fixed),
    maxCalls: entry.max_calls,
    onError: entry.on_error,
    target: definition.target,
  };
}

type Definition = Omit<ToolDefinition, 'schema'> & {
  schema: JsonObject | null;
  target?: CallTarget | undefined;
};

function definitionOf(
  name: string,
  { customTools, workflows }: ToolDefinitions,
): Definition | Omit<ToolProblem, 'path'> | undefined {
  const workflow = workflowOf(name);
  if (workflow !== undefined) return workflows && workflowDefinition(workflow, workflows);
  const customName = customToolName(name);
  if (customName !== undefined) {
    const tool = customTools.get(customName);
    if (tool === undefined) {
      const message = `the custom tool '${name}' is not registered`;
      return { code: 'unknown_custom_tool', message };
    }
    const description = [tool.description, tool.label].find((text) => text !== '') ?? customName;
    return { description, schema: tool.input_schema, target: tool.target };
  }
  if (Object.hasOwn(notForAgents, name)) {
    const reason = notForAgents[name as keyof typeof notForAgents];
    const message = `an agent cannot offer the tool '${name}': ${reason}`;
    return { code: 'tool_not_for_agents', message };
  }
  if (Object.hasOwn(builtinDefinitions, name)) {
    return builtinDefinitions[name as keyof typeof builtinDefinitions];
  }
  const meant = customTools.has(name)
    ? `; did you mean '${calledAs(name)}'?`
    : hint(name, Object.keys(builtinDefinitions));
  return { code: 'unknown_tool', message: `there is no tool '${name}'${meant}` };
}

function workflowDefinition(
  workflow: string,
  workflows: WorkflowDefinitions,
): Definition | Omit<ToolProblem, 'path'> {
  const found = workflows.get(workflow) ?? { problem: `There is no workflow '${workflow}'` };
  if ('problem' in found) return { code: 'workflow_unknown', message: found.problem };
  const { name, description, input_schema: schema, target } = found;
  const text = description === '' ? `Runs the workflow '${name}'` : description;
  return { description: text, schema, target };
}

function schemaProblemOf(
  name: string,
  schema: JsonObject | null,
): Omit<ToolProblem, 'path'> | undefined {
  if (schema === null) {
    const owner = workflowOf(name) === undefined ? 'register it with' : 'give the workflow';
    const message = `the tool '${name}' has no schema of its arguments; ${owner} an input_schema, or give parameters here`;
    return { code: 'tool_without_schema', message };
  }
  const type = schema['type'];
  if (type === undefined || type === 'object') return undefined;
  if (Array.isArray(type) && type.includes('object')) return undefined;
  const message = `the schema of the tool '${name}' must have the type 'object'`;
  return { code: 'tool_schema_not_an_object', message };
}

/** Fixed arguments that the tool would reject in every call. */
function fixedProblems(
  name: string,
  fixed: JsonObject,
  schema: JsonObject,
  path: string,
): ToolProblem[] {
  const problems: ToolProblem[] = [];
  const known = argumentNames(schema);
  for (const key of known === undefined ? [] : Object.keys(fixed)) {
    if (known?.includes(key) === true) continue;
    const message = `${name} has no argument '${key}' that could be fixed${hint(key, known ?? [])}`;
    problems.push({ code: 'unknown_param', message, path: `${path}.fixed.${key}` });
  }
  // The headers may contain a credential, and the model must not choose who receives it.
  const { headers, url } = fixed;
  if (name === 'http_request' && headers !== undefined && url === undefined) {
    const message = 'http_request with fixed headers needs a fixed url, too';
    problems.push({ code: 'headers_without_url', message, path: `${path}.fixed.headers` });
  }
  return problems;
}

/** The names of all arguments that a schema allows; undefined when it allows any name. */
function argumentNames(schema: JsonObject): string[] | undefined {
  if (schema['additionalProperties'] !== false || schema['patternProperties'] !== undefined) {
    return undefined;
  }
  return Object.keys(objectAt(schema, 'properties'));
}

/** The schema without these arguments, with the type that providers require. */
function withoutArguments(schema: JsonObject, names: readonly string[]): JsonObject {
  const offered: JsonObject = schema['type'] === 'object' ? schema : { ...schema, type: 'object' };
  if (names.length === 0) return offered;
  const { required, properties: _all, ...rest } = offered;
  const properties = Object.fromEntries(
    Object.entries(objectAt(schema, 'properties')).filter(([key]) => !names.includes(key)),
  );
  const needed = Array.isArray(required) ? required.filter((key) => !isNamed(key, names)) : [];
  return { ...rest, properties, ...(needed.length > 0 && { required: needed }) };
}

const isNamed = (key: Json, names: readonly string[]): boolean =>
  typeof key === 'string' && names.includes(key);

function objectAt(schema: JsonObject, key: string): JsonObject {
  const value = schema[key];
  return isObject(value) ? value : {};
}
