import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import {
  CONNECTIONS,
  goesToHosts,
  isConnectionPath,
  SECRET_NAME,
  SECRETS,
  sourceNoun,
  type ValueReference,
  type ValueSource,
  WHERE_SECRETS_STAND,
} from '#shared/values/secrets.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { mockOutputTexts, nodeTexts, type NodeText } from '#shared/graph/node-texts.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import { hint } from '#shared/graph/suggest.ts';
import type { JsonObject } from '#shared/json.ts';

/** The allowed hosts of each of a workspace's secrets, or connections, by name. */
export type SecretHosts = ReadonlyMap<string, readonly string[]>;

/** The hosts by what they belong to; undefined where the values are unknown, so that any may exist. */
export type StoredHosts = { readonly [Source in ValueSource]?: SecretHosts | undefined };

interface Place {
  node_id: string;
  path: string;
}

/**
 * Checks the references to secrets and connections in a text whose roots are known: that they are allowed there, and
 * that these exist. `setsConnections`: the graph sets a key of the state with that name, which other texts read.
 */
export function checkSecretsIn(
  issues: Issues,
  node: GraphNode,
  text: NodeText,
  path: string,
  stored: StoredHosts,
  setsConnections: boolean,
): void {
  const place = { node_id: node.id, path };
  for (const part of parseTemplate(text.text).parts) {
    if (typeof part === 'string') continue;
    const source = sourceOf(part.path);
    if (source === undefined) {
      if (text.secrets === true && part.path[0] === CONNECTIONS && !setsConnections) {
        const message = `Node '${node.id}': '${part.text}' is not the name of a connection, like 'connections.SLACK'`;
        issues.warning('connection_name_invalid', message, place);
      }
      continue;
    }
    if (text.secrets === undefined) {
      if (source === CONNECTIONS && setsConnections) continue;
      refuse(issues, place, part.text, source);
      return;
    }
    checkReference(issues, place, part, source, stored[source]);
  }
}

/** What a reference in a template is to; undefined: to a key of the state. */
function sourceOf(path: readonly (string | number)[]): ValueSource | undefined {
  if (path[0] === SECRETS) return SECRETS;
  return isConnectionPath(path) ? CONNECTIONS : undefined;
}

/** Reports a secret or connection that is read where it is not allowed. */
export const refuse = (
  issues: Issues,
  place: Place,
  written: string,
  source: ValueSource = SECRETS,
): void =>
  issues.error(
    `${sourceNoun(source)}_not_allowed`,
    `Node '${place.node_id}': '${written}' cannot stand here: move it to ${WHERE_SECRETS_STAND}`,
    place,
  );

function checkReference(
  issues: Issues,
  place: Place,
  { text, path }: { text: string; path: readonly (string | number)[] },
  source: ValueSource,
  stored: SecretHosts | undefined,
): void {
  const name = String(path[1] ?? '');
  const noun = sourceNoun(source);
  if (path.length !== 2 || !SECRET_NAME.test(name)) {
    const message = `Node '${place.node_id}': '${text}' is not the name of a ${noun}, like '${source}.API_KEY'`;
    issues.error(`${noun}_name_invalid`, message, place);
  } else if (stored !== undefined && !stored.has(name)) {
    const message = `Node '${place.node_id}': there is no ${noun} '${name}'${hint(name, stored.keys()) || ': create it, or name another one'}`;
    issues.error(`unknown_${noun}`, message, place);
  }
}

/** Outputs of the mock model are also templates, which other models' steps do not read. */
export function checkMockOutputs(issues: Issues, node: GraphNode, at: number): void {
  for (const { text, path } of node.kind === 'agent' ? mockOutputTexts(node) : []) {
    const place = { node_id: node.id, path: `nodes[${at}].${path}` };
    const found = secretsOf(text)[0];
    if (found !== undefined) refuse(issues, place, `${found.source}.${found.name}`, found.source);
  }
}

/** Per tool: the parameter with its address. */
const ADDRESSES: Readonly<Record<string, string>> = { http_request: 'url', mcp: 'server_url' };

/**
 * Checks that a node's tools send their secrets only to allowed hosts. The node sets the host, see `checkAddress`: a
 * model must not choose where an author's secret is sent.
 */
export function checkSecretHosts(
  issues: Issues,
  node: GraphNode,
  texts: readonly NodeText[],
  at: number,
  stored: StoredHosts,
): void {
  for (const { tool, params, path } of calledBy(node)) {
    const own = texts.filter((text) => text.secrets === true && text.path.startsWith(`${path}.`));
    const references = own.flatMap(({ text }) => secretsOf(text));
    const [first] = references;
    const param = ADDRESSES[tool];
    if (first === undefined || param === undefined) continue;
    const place = { node_id: node.id, path: `nodes[${at}].${path}.${param}` };
    const address = params[param];
    if (typeof address !== 'string') {
      if (node.kind !== 'agent') continue;
      const noun = sourceNoun(first.source);
      const message = `Node '${node.id}': ${tool} with a fixed ${noun} needs a fixed ${param}, too`;
      issues.error(`${noun}_without_url`, message, { ...place, path: `nodes[${at}].${path}` });
      continue;
    }
    const url = URL.parse(address);
    if (url === null) continue;
    for (const { source, name } of distinct(references)) {
      const hosts = stored[source]?.get(name);
      if (hosts === undefined || goesToHosts(url, hosts)) continue;
      const noun = sourceNoun(source);
      const message = `Node '${node.id}': the ${noun} '${name}' may not be sent to ${url.host}, only to ${hosts.join(', ')}: allow the host, or change the address`;
      issues.error(`${noun}_host_not_allowed`, message, place);
    }
  }
}

const distinct = (references: readonly ValueReference[]): Iterable<ValueReference> =>
  new Map(references.map((each) => [`${each.source}.${each.name}`, each])).values();

function calledBy(node: GraphNode): { tool: string; params: JsonObject; path: string }[] {
  if (node.kind === 'tool') return [{ tool: node.tool_name, params: node.params, path: 'params' }];
  if (node.kind !== 'agent') return [];
  return agentToolsOf(node).map(({ name, fixed = {} }, at) => ({
    tool: name,
    params: fixed,
    path: `tools[${at}].fixed`,
  }));
}

/** Whether a node's texts contain secrets or connections. */
export const containsSecrets = (node: GraphNode): boolean =>
  nodeTexts(node).some((text) => text.secrets === true && secretsOf(text.text).length > 0);

/** The references of a template to secrets and connections. */
const secretsOf = (text: string): ValueReference[] =>
  parseTemplate(text).parts.flatMap((part) => {
    const source = typeof part === 'object' ? sourceOf(part.path) : undefined;
    if (source === undefined || typeof part === 'string') return [];
    return [{ source, name: String(part.path[1] ?? '') }];
  });
