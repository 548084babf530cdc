import type { JsonObject } from '../../json.ts';
import { parseTemplate } from '../expression/template.ts';
import type { Issues } from '../issues.ts';

/** Values in HTML are escaped between an author's own words only. */
export function checkMarkup(
  issues: Issues,
  nodeId: string,
  tool: string,
  { html }: JsonObject,
  path: string,
): void {
  if (tool !== 'send_email' || typeof html !== 'string') return;
  const { parts } = parseTemplate(html);
  if (parts.length !== 1 || typeof parts[0] !== 'object') return;
  const message = `Node '${nodeId}': ${html} is sent as HTML unchanged, with any markup in its value; inside other text, such as <p>${html}</p>, it is escaped`;
  issues.warning('html_not_escaped', message, { node_id: nodeId, path: `${path}.html` });
}
