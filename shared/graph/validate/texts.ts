import type { AgentNode, Graph, GraphNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import { ExpressionError } from '#shared/graph/expression/expression.ts';
import { outputKey } from '#shared/graph/compile.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { nodeTexts, type NodeText, type RootRead, textReads } from '#shared/graph/node-texts.ts';
import { hint } from '#shared/graph/suggest.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import { type BuiltinTool, customToolName, type ToolParams, toolParams } from '#shared/tools.ts';
import { awaitsCallback } from '#shared/graph/waits/callbacks.ts';
import { CALLBACKS } from '#shared/values/callbacks.ts';
import { checkAddress } from './addresses.ts';
import { checkAgentTools } from './agent-tools.ts';
import { checkMarkup } from './markup.ts';
import {
  checkMockOutputs,
  checkSecretHosts,
  checkSecretsIn,
  refuse,
  type StoredHosts,
} from './secrets.ts';
import { CONNECTIONS, SECRETS } from '#shared/values/secrets.ts';
import { checkCompoundKeys, namedKeys } from './unreadable-keys.ts';
import type { Unreadable, ValidationContext } from './context.ts';

/** A top-level key that a node reads, and its location. */
export interface KeyRead extends RootRead {
  node: number;
  path: string;
}

/** Checks tools, expressions and templates. Returns the keys that the valid ones read. */
export function checkTexts(
  issues: Issues,
  graph: Graph,
  context: ValidationContext,
  unreadable: Unreadable,
): KeyRead[] {
  const reads: KeyRead[] = [];
  const keys = namedKeys(graph, context.inputKeys);
  const hasCallbacks = graph.nodes.some(awaitsCallback);
  const setsConnections =
    context.inputKeys?.includes(CONNECTIONS) === true ||
    graph.nodes.some((node) => node.id === CONNECTIONS || outputKey(node) === CONNECTIONS);
  graph.nodes.forEach((node, at) => {
    if (unreadable.has(at)) return;
    if (node.kind === 'tool') {
      checkTool(issues, node, at, context);
      checkAddress(issues, node.id, node.tool_name, node.params, `nodes[${at}].params`);
      checkMarkup(issues, node.id, node.tool_name, node.params, `nodes[${at}].params`);
    }
    if (node.kind === 'agent') {
      checkModels(issues, node, at, context);
      checkAgentTools(issues, node, at, context);
    }
    const texts = nodeTexts(node);
    for (const text of texts) {
      const path = `nodes[${at}].${text.path}`;
      checkCompoundKeys(issues, node, text, path, keys);
      for (const read of checkText(issues, node, text, path, context, setsConnections)) {
        if (read.key === CALLBACKS && hasCallbacks) continue;
        reads.push({ ...read, node: at, path });
      }
    }
    checkMockOutputs(issues, node, at);
    checkSecretHosts(issues, node, texts, at, context);
  });
  return reads;
}

function checkTool(issues: Issues, node: ToolNode, at: number, context: ValidationContext): void {
  const { tool_name: name, id } = node;
  const place = { node_id: id, path: `nodes[${at}].tool_name` };
  const customName = customToolName(name);
  if (customName === undefined) {
    if (context.tools.has(name)) checkParams(issues, node, at);
    else {
      const message = `Node '${id}': there is no tool '${name}'${hint(name, context.tools)}`;
      issues.error('unknown_tool', message, place);
    }
  } else if (!context.customTools.has(customName)) {
    issues.error(
      'unknown_custom_tool',
      `Node '${id}': the custom tool '${name}' is not registered`,
      place,
    );
  }
}

/** Parameters that a built-in tool would reject at run time: missing and unknown ones. */
function checkParams(issues: Issues, { id, tool_name: name, params }: ToolNode, at: number): void {
  if (!Object.hasOwn(toolParams, name)) return;
  const { required, optional }: ToolParams = toolParams[name as BuiltinTool];
  for (const each of required) {
    const names = [each].flat();
    if (names.some((param) => Object.hasOwn(params, param))) continue;
    const needed = names.map((param) => `'${param}'`).join(' or ');
    const message = `Node '${id}': ${name} needs the parameter ${needed}`;
    issues.error('missing_param', message, { node_id: id, path: `nodes[${at}].params` });
  }
  const known = [...required.flat(), ...optional];
  for (const param of Object.keys(params)) {
    if (known.includes(param)) continue;
    const message = `Node '${id}': ${name} has no parameter '${param}'${hint(param, known)}`;
    issues.error('unknown_param', message, { node_id: id, path: `nodes[${at}].params.${param}` });
  }
}

/** A model without an API key is only a warning, since the worker that runs the step may have one. */
function checkModels(
  issues: Issues,
  node: AgentNode,
  at: number,
  context: ValidationContext,
): void {
  const { unavailableProviders = {} } = context;
  const places = [
    { model: node.model, path: 'model' },
    ...(node.fallback_models ?? []).map((model, place) => ({
      model,
      path: `fallback_models[${place}]`,
    })),
  ];
  for (const { model, path } of places) {
    const provider = model.split('/', 1)[0] ?? '';
    if (!Object.hasOwn(unavailableProviders, provider)) continue;
    const message = `Node '${node.id}': ${unavailableProviders[provider]!}`;
    issues.warning('model_not_available', message, {
      node_id: node.id,
      path: `nodes[${at}].${path}`,
    });
  }
}

function doubtAbout(braces: string): string {
  if (braces.startsWith('{{')) {
    return 'is sent as plain text with single braces: a reference has single ones, without spaces';
  }
  const doubt = braces.endsWith('}') ? 'is not a reference' : 'is not closed';
  return `${doubt}, so it is sent as plain text`;
}

function checkText(
  issues: Issues,
  node: GraphNode,
  text: NodeText,
  path: string,
  stored: StoredHosts,
  setsConnections: boolean,
): RootRead[] {
  if (text.language === 'template') {
    checkSecretsIn(issues, node, text, path, stored, setsConnections);
    for (const { text: braces, position } of parseTemplate(text.text).doubtful) {
      const message = `Node '${node.id}': ${JSON.stringify(braces)} at position ${position} ${doubtAbout(braces)}`;
      issues.warning('template_not_a_reference', message, { node_id: node.id, path, position });
    }
  }
  try {
    const reads = textReads(text);
    const others = reads.filter(({ key }) => key !== SECRETS);
    if (others.length < reads.length && text.language === 'expression') {
      refuse(issues, { node_id: node.id, path }, SECRETS);
    }
    if (text.only === undefined) return others;
    for (const { key, position } of others) {
      const message = `Node '${node.id}': the title of a call can only read '${text.only}', not '${key}': write {${text.only}.name} for an argument`;
      issues.error('title_reads_state', message, { node_id: node.id, path, position });
    }
    return [];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const place = { node_id: node.id, path, position: error.position };
    issues.error('expression_invalid', `Node '${node.id}': ${error.message}`, place);
    return [];
  }
}
