import type { Json } from '#shared/json.ts';
import { parseOutsideJson } from '#shared/outside-json.ts';

/** Tags in which models think before they answer. */
const THOUGHT = /\s*<(think|thinking|thought|reasoning)>/iy;

/**
 * The JSON in a model's answer: all of it, what stands in a fence, or an object or a list between words; what the model
 * only thought does not count. Undefined without one. With `cutOff`, words may stand only before a complete end. Throws
 * JsonLimitError.
 */
export function jsonInAnswer(text: string, { cutOff }: { cutOff: boolean }): Json | undefined {
  const whole = parsed(text);
  if (whole !== undefined) return whole;
  const said = withoutThoughts(text);
  const bare = parsed(said);
  if (bare !== undefined || cutOff) return bare;
  return fenced(said) ?? amongWords(said);
}

function parsed(text: string): Json | undefined {
  try {
    return parseOutsideJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function withoutThoughts(text: string): string {
  let from = 0;
  for (let name = thoughtAt(text, from); name !== undefined; name = thoughtAt(text, from)) {
    const end = new RegExp(`</${name}>`, 'gi');
    end.lastIndex = from;
    if (end.exec(text) === null) return '';
    from = end.lastIndex;
  }
  const rest = text.slice(from);
  // Some servers leave out the tag that opens it.
  const late = /^[^]*<\/think(?:ing)?>/i.exec(rest);
  return rest.slice(late?.[0].length ?? 0);
}

/** The name of the tag that begins at a place, after space. */
function thoughtAt(text: string, from: number): string | undefined {
  THOUGHT.lastIndex = from;
  return THOUGHT.exec(text)?.[1];
}

// Spaces have a bound, and what ends it is found at once: an answer of megabytes takes milliseconds.
const FENCE = /```[ \t]{0,4}(?:json[c5]?)?[ \t]{0,4}\r?\n([^]*?)```/gi;

/** The last fence that has JSON: an example comes before the answer. */
function fenced(text: string): Json | undefined {
  for (const [, content = ''] of [...text.matchAll(FENCE)].toReversed()) {
    const found = parsed(content);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The longest object or list of a text. None if one does not end: then what stands in it is no answer. */
function amongWords(text: string): Json | undefined {
  let longest = '';
  const open = /[[{]/g;
  for (let found = open.exec(text); found !== null; found = open.exec(text)) {
    const end = endOf(text, found.index);
    if (end === undefined) return undefined;
    const candidate = text.slice(found.index, end);
    if (candidate.length > longest.length && parsed(candidate) !== undefined) longest = candidate;
    open.lastIndex = end;
  }
  return longest === '' ? undefined : parsed(longest);
}

/** Where the brackets that open at a place are closed. */
function endOf(text: string, from: number): number | undefined {
  let open = 0;
  let isInText = false;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (isInText) {
      if (character === '\\') at += 1;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === '{' || character === '[') open += 1;
    else if (character === '}' || character === ']') {
      open -= 1;
      if (open === 0) return at + 1;
    }
  }
  return undefined;
}
