import type { AgentNode, CodeNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import { expressionRoots } from '#shared/graph/expression/expression.ts';
import { renderWithSecrets } from '#shared/graph/expression/secret-template.ts';
import {
  parseTemplate,
  renderTemplate,
  renderValue,
  templateReads,
  type Writer,
} from '#shared/graph/expression/template.ts';
import { weighJson } from '#shared/graph/json-value.ts';
import type { ExecutedNode } from '#shared/graph/kinds.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { inChat, inHtml } from '#shared/values/markup.ts';
import { contentTypeIn, isForm } from '#shared/values/form.ts';
import { type Callbacks, NO_CALLBACKS } from '#shared/graph/waits/callbacks.ts';
import { CALLBACKS } from '#shared/values/callbacks.ts';
import { CONNECTIONS, type SecretPlace, SECRETS } from '#shared/values/secrets.ts';
import { renderUrl } from '#shared/tools.ts';
import { formTemplate } from './form.ts';

/** Beyond this number of values, the exact count does not matter. */
const MAX_WEIGHED = 1_000_000;

/** The input of a step, from the run's state. Templates are resolved, and only what the step needs is sent. */
export interface PreparedStep {
  node: ExecutedNode;
  label: string;
  params: JsonObject;
  state: JsonObject;
  /** Where the parameters contain secrets and addresses of callbacks. Only their names are known here. */
  secrets?: SecretPlace[];
  /** For a turn or a call of an agent with tools. */
  agent?: AgentPart;
}

/** Throws TemplateError or ExpressionError when a template of the node cannot be rendered with the state. */
export function prepareStep(
  node: ExecutedNode,
  state: JsonObject,
  callbacks: Callbacks = NO_CALLBACKS,
): PreparedStep {
  switch (node.kind) {
    case 'agent':
      return prepareAgent(node, state);
    case 'tool':
      return prepareTool(node, state, callbacks);
    case 'code':
      return prepareCode(node, state);
    default:
      return node satisfies never;
  }
}

/** Characters of results that one unit of work can write. */
const WRITTEN_PER_UNIT = 20;

/** The work to prepare a step, in units of a WorkBudget: parsing its templates and writing the results. */
export function preparingWork(node: ExecutedNode, { params, state }: PreparedStep): number {
  return renderingWork(templatesOf(node), [params, state]);
}

function templatesOf(node: ExecutedNode): Json[] {
  if (node.kind === 'agent') return [node.prompt ?? '', node.system_prompt ?? ''];
  return node.kind === 'tool' ? [node.params] : [];
}

/** The work to parse templates and to write their results, in units of a WorkBudget. */
export function renderingWork(templates: Json, results: Json): number {
  const written = weighJson(results, MAX_WEIGHED);
  const parsed = weighJson(templates, MAX_WEIGHED).length;
  return parsed + written.values + written.length / WRITTEN_PER_UNIT;
}

function prepareAgent(node: AgentNode, state: JsonObject): PreparedStep {
  const { system_prompt, prompt, mock, ...rest } = node;
  const bare: AgentNode =
    mock === undefined ? rest : { ...rest, mock: { ...mock, output: undefined } };
  const params: JsonObject = {};
  if (system_prompt !== undefined) params['system_prompt'] = renderValue(system_prompt, state);
  if (prompt !== undefined) params['prompt'] = renderValue(prompt, state);
  if (mock?.output !== undefined) params['mock'] = { output: renderValue(mock.output, state) };
  return {
    node: bare,
    label: nodeLabel(node),
    params,
    state: prompt === undefined ? { ...state } : {},
  };
}

/** Code can read every key of the state. */
const prepareCode = (node: CodeNode, state: JsonObject): PreparedStep => ({
  node,
  label: nodeLabel(node),
  params: {},
  state: { ...state },
});

function prepareTool(node: ToolNode, state: JsonObject, callbacks: Callbacks): PreparedStep {
  const { params: templates, ...bare } = node;
  const stripped: ToolNode = { ...bare, params: {} };
  // An expression is sent unevaluated, with the values it reads.
  if (node.tool_name === 'json_transform') {
    const expression = templates['expression'];
    const roots = typeof expression === 'string' ? expressionRoots(expression) : [];
    const read = roots.filter((key) => Object.hasOwn(state, key));
    return {
      node: stripped,
      label: nodeLabel(node),
      params: templates,
      state: Object.fromEntries(read.map((key) => [key, state[key]!])),
    };
  }
  const { params, secrets } = renderParams(node.tool_name, templates, state, callbacks);
  const prepared = { node: stripped, label: nodeLabel(node), params, state: {} };
  return secrets.length === 0 ? prepared : { ...prepared, secrets };
}

/**
 * Parameters that are interpreted as markup: inserted values become text in them. HTML that consists of a single
 * reference is inserted unchanged.
 */
const WRITERS: Readonly<Record<string, Readonly<Record<string, Writer>>>> = {
  send_chat_message: { text: { write: inChat, alone: true } },
  send_email: { html: { write: inHtml, alone: false } },
};

/** A tool's parameters with their templates resolved, except for secrets and callbacks. Throws TemplateError. */
export function renderParams(
  tool: string,
  templates: JsonObject,
  state: JsonObject,
  callbacks: Callbacks = NO_CALLBACKS,
): { params: JsonObject; secrets: SecretPlace[] } {
  const writers = Object.hasOwn(WRITERS, tool) ? WRITERS[tool] : undefined;
  const given = tool === 'http_request' ? withFields(templates, state) : templates;
  const { params, secrets } = renderWithSecrets(tool, given, state, writers, callbacks);
  const url = templates['url'];
  if (tool === 'http_request' && typeof url === 'string') {
    params['url'] = renderUrlTemplate(url, state);
  }
  return { params, secrets };
}

/** The templates of a request whose form is written as a text, with the form's fields. */
function withFields(templates: JsonObject, state: JsonObject): JsonObject {
  const { headers, body } = templates;
  const type = contentTypeIn(headers);
  if (typeof type !== 'string' || typeof body !== 'string') return templates;
  const fields = formTemplate(body);
  const marked: readonly string[] = [SECRETS, CONNECTIONS, CALLBACKS];
  if (fields === undefined || templateReads(type).some(({ key }) => marked.includes(key))) {
    return templates;
  }
  return isForm(renderTemplate(type, state)) ? { ...templates, body: fields } : templates;
}

/** Values in a URL are percent-encoded, so that they cannot change its target. */
function renderUrlTemplate(template: string, state: JsonObject): string {
  const rendered = renderUrl(
    parseTemplate(template).parts.map((part) =>
      typeof part === 'string'
        ? { text: part }
        : { value: renderTemplate(`{${part.text}}`, state) },
    ),
  );
  if ('error' in rendered) throw new Error(rendered.error);
  return rendered.url;
}
