import type { JsonObject } from '#shared/json.ts';
import { contentTypeIn, isForm } from '#shared/values/form.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { formTemplate } from '#shared/graph/prepare/form.ts';

/**
 * Warns about values that a template inserts unchanged where they could be interpreted as more than text: in HTML and
 * in forms.
 */
export function checkMarkup(
  issues: Issues,
  nodeId: string,
  tool: string,
  { html, headers, body }: JsonObject,
  path: string,
): void {
  if (tool === 'send_email' && typeof html === 'string' && isReference(html)) {
    const message = `Node '${nodeId}': ${html} is sent as HTML unchanged, with any markup in its value; inside other text, such as <p>${html}</p>, it is escaped`;
    issues.warning('html_not_escaped', message, { node_id: nodeId, path: `${path}.html` });
  }
  if (tool !== 'http_request' || typeof body !== 'string' || isReference(body)) return;
  const isText = parseTemplate(body).parts.every((part) => typeof part === 'string');
  if (isText || !isForm(contentTypeIn(headers)) || formTemplate(body) !== undefined) return;
  const message = `Node '${nodeId}': the values in this form are not encoded, because the name of a field is no literal text; write the body as an object`;
  issues.warning('form_not_encoded', message, { node_id: nodeId, path: `${path}.body` });
}

function isReference(text: string): boolean {
  const { parts } = parseTemplate(text);
  return parts.length === 1 && typeof parts[0] === 'object';
}
