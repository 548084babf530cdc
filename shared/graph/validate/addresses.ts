import type { JsonObject } from '#shared/json.ts';
import { renderUrl } from '#shared/tools.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import type { Issues } from '#shared/graph/issues.ts';

/** Per tool: the parameter that determines where its headers are sent. */
const ADDRESSES: Readonly<Record<string, string>> = { http_request: 'url', mcp: 'server_url' };

/** Data of a run must not determine the recipient of headers, which can contain a credential. */
export function checkAddress(
  issues: Issues,
  nodeId: string,
  tool: string,
  params: JsonObject,
  path: string,
): void {
  if (!Object.hasOwn(ADDRESSES, tool)) return;
  const param = ADDRESSES[tool]!;
  const text = params[param];
  if (typeof text !== 'string') return;
  const parts = parseTemplate(text).parts.map((part) =>
    typeof part === 'string' ? { text: part } : { value: 'x' },
  );
  const rendered = renderUrl(parts);
  if (!('error' in rendered)) return;
  issues.error('host_is_a_reference', `Node '${nodeId}': ${rendered.error}`, {
    node_id: nodeId,
    path: `${path}.${param}`,
  });
}
