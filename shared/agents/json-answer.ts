import type { Json } from '#shared/json.ts';
import { parseOutsideJson } from '#shared/outside-json.ts';

/** Tags around what models think before they answer. */
const THOUGHT = /\s*<(think|thinking|thought|reasoning)>/iy;

/**
 * The JSON in a model's answer: the whole answer, the content of a code fence, or an object or list between words.
 * Thoughts do not count. Undefined if there is none. With `cutOff`, only JSON that is complete at the end counts, and
 * words can only come before it. Throws JsonLimitError.
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
  // Some servers omit the opening tag.
  const late = /^[^]*<\/think(?:ing)?>/i.exec(rest);
  return rest.slice(late?.[0].length ?? 0);
}

/** The name of the tag that begins at this offset, after optional white space. */
function thoughtAt(text: string, from: number): string | undefined {
  THOUGHT.lastIndex = from;
  return THOUGHT.exec(text)?.[1];
}

// The white space is bounded and the closing tag is found by a plain search, so an answer of megabytes takes
// milliseconds.
const FENCE = /```[ \t]{0,4}(?:json[c5]?)?[ \t]{0,4}\r?\n([^]*?)```/gi;

/** The last code fence that contains JSON: examples come before the answer. */
function fenced(text: string): Json | undefined {
  for (const [, content = ''] of [...text.matchAll(FENCE)].toReversed()) {
    const found = parsed(content);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The longest object or list in a text. None if one is not closed: then its contents are not an answer. */
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

/** The end of the object or list that opens at this offset. */
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
