import { renderTemplate } from '#shared/graph/expression/template.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** In characters. */
const MAX_TITLE = 200;
/** How many arguments the title of a call without a template names, and how much of each. */
const MAX_NAMED = 2;
const MAX_VALUE = 60;
/** How many members of an object are searched for them. */
const MAX_SEARCHED = 20;

/**
 * The title of a gate, in one line. Undefined if the template cannot be rendered, or if nothing is left of it: a title
 * only names the decision, so it never stops a run.
 */
export function renderTitle(template: string, scope: JsonObject): string | undefined {
  try {
    const rendered = renderTemplate(template, scope);
    const text = typeof rendered === 'string' ? rendered : JSON.stringify(rendered);
    return oneLine(text, MAX_TITLE) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * The title of a call with these redacted arguments. Without a template, or if it cannot be rendered: the tool and the
 * first arguments.
 */
export function titleOfCall(tool: string, args: Json, template: string | undefined): string {
  const rendered = template === undefined ? undefined : renderTitle(template, { args });
  if (rendered !== undefined) return rendered;
  const values = firstScalars(args).map((value) => oneLine(String(value), MAX_VALUE));
  const named = values.filter((value) => value !== '').join(', ');
  return oneLine(named === '' ? tool : `${tool}: ${named}`, MAX_TITLE);
}

/** Those of nested objects come where the object is. */
function firstScalars(args: Json): (string | number | boolean)[] {
  const found: (string | number | boolean)[] = [];
  const open: Json[] = [args];
  while (found.length < MAX_NAMED) {
    const value = open.shift();
    if (value === undefined) break;
    if (isObject(value)) open.unshift(...Object.values(value).slice(0, MAX_SEARCHED));
    else if (value !== null && typeof value !== 'object') found.push(value);
  }
  return found;
}

function oneLine(text: string, most: number): string {
  // A rendered template can have millions of characters.
  const line = text
    .slice(0, 10 * most)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return (line.length > most ? `${line.slice(0, most - 1)}…` : line).toWellFormed();
}
