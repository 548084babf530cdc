import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import { goesToHosts, SECRET_NAME, SECRETS, WHERE_SECRETS_STAND } from '#shared/values/secrets.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { mockOutputTexts, nodeTexts, type NodeText } from '#shared/graph/node-texts.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import { hint } from '#shared/graph/suggest.ts';
import type { JsonObject } from '#shared/json.ts';

/** The allowed hosts of each of a workspace's secrets, by name. */
export type SecretHosts = ReadonlyMap<string, readonly string[]>;

interface Place {
  node_id: string;
  path: string;
}

/**
 * Checks the references to secrets in a text whose roots are known: that secrets are allowed there, and that they
 * exist. Without `secrets`, any secret may exist.
 */
export function checkSecretsIn(
  issues: Issues,
  node: GraphNode,
  text: NodeText,
  path: string,
  secrets: SecretHosts | undefined,
): void {
  const place = { node_id: node.id, path };
  for (const part of parseTemplate(text.text).parts) {
    if (typeof part === 'string' || part.path[0] !== SECRETS) continue;
    if (text.secrets === undefined) {
      refuse(issues, place, part.text);
      return;
    }
    checkReference(issues, place, part, secrets);
  }
}

/** Reports a secret that is read where it is not allowed. */
export const refuse = (issues: Issues, place: Place, written: string): void =>
  issues.error(
    'secret_not_allowed',
    `Node '${place.node_id}': '${written}' cannot stand here: move it to ${WHERE_SECRETS_STAND}`,
    place,
  );

function checkReference(
  issues: Issues,
  place: Place,
  { text, path }: { text: string; path: readonly (string | number)[] },
  secrets: SecretHosts | undefined,
): void {
  const name = String(path[1] ?? '');
  if (path.length !== 2 || !SECRET_NAME.test(name)) {
    const message = `Node '${place.node_id}': '${text}' is not the name of a secret, like 'secrets.API_KEY'`;
    issues.error('secret_name_invalid', message, place);
  } else if (secrets !== undefined && !secrets.has(name)) {
    const message = `Node '${place.node_id}': there is no secret '${name}'${hint(name, secrets.keys()) || ': create it, or name another one'}`;
    issues.error('unknown_secret', message, place);
  }
}

/** Outputs of the mock model are also templates, which other models' steps do not read. */
export function checkMockOutputs(issues: Issues, node: GraphNode, at: number): void {
  for (const { text, path } of node.kind === 'agent' ? mockOutputTexts(node) : []) {
    const place = { node_id: node.id, path: `nodes[${at}].${path}` };
    const found = secretsOf(text)[0];
    if (found !== undefined) refuse(issues, place, `${SECRETS}.${found}`);
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
  secrets: SecretHosts | undefined,
): void {
  for (const { tool, params, path } of calledBy(node)) {
    const own = texts.filter((text) => text.secrets === true && text.path.startsWith(`${path}.`));
    const names = [...new Set(own.flatMap(({ text }) => secretsOf(text)))];
    const param = ADDRESSES[tool];
    if (names.length === 0 || param === undefined) continue;
    const place = { node_id: node.id, path: `nodes[${at}].${path}.${param}` };
    const address = params[param];
    if (typeof address !== 'string') {
      if (node.kind !== 'agent') continue;
      const message = `Node '${node.id}': ${tool} with a fixed secret needs a fixed ${param}, too`;
      issues.error('secret_without_url', message, { ...place, path: `nodes[${at}].${path}` });
      continue;
    }
    const url = URL.parse(address);
    if (url === null) continue;
    for (const name of names) {
      const hosts = secrets?.get(name);
      if (hosts === undefined || goesToHosts(url, hosts)) continue;
      const message = `Node '${node.id}': the secret '${name}' may not be sent to ${url.host}, only to ${hosts.join(', ')}: allow the host, or change the address`;
      issues.error('secret_host_not_allowed', message, place);
    }
  }
}

function calledBy(node: GraphNode): { tool: string; params: JsonObject; path: string }[] {
  if (node.kind === 'tool') return [{ tool: node.tool_name, params: node.params, path: 'params' }];
  if (node.kind !== 'agent') return [];
  return agentToolsOf(node).map(({ name, fixed = {} }, at) => ({
    tool: name,
    params: fixed,
    path: `tools[${at}].fixed`,
  }));
}

/** Whether a node's texts contain secrets. */
export const containsSecrets = (node: GraphNode): boolean =>
  nodeTexts(node).some((text) => text.secrets === true && secretsOf(text.text).length > 0);

const secretsOf = (text: string): string[] =>
  parseTemplate(text).parts.flatMap((part) =>
    typeof part === 'object' && part.path[0] === SECRETS ? [String(part.path[1] ?? '')] : [],
  );
