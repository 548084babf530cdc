import type { Json } from '../json.ts';
import { parseOutsideJson } from '../outside-json.ts';

/** Tags in which models think before they answer. */
const THOUGHT = /^\s*<(think|thinking|thought|reasoning)>/i;

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
  let rest = text;
  for (let open = THOUGHT.exec(rest); open !== null; open = THOUGHT.exec(rest)) {
    const end = `</${open[1]!.toLowerCase()}>`;
    const at = rest.toLowerCase().indexOf(end, open[0].length);
    if (at < 0) return '';
    rest = rest.slice(at + end.length);
  }
  // Some servers leave out the tag that opens it.
  return /^[^]*<\/think(?:ing)?>([^]*)$/i.exec(rest)?.[1] ?? rest;
}

const FENCE = /```[ \t]*(?:json[c5]?)?[ \t]*\r?\n([^]*?)\r?\n?[ \t]*```/gi;

/** The last fence that has JSON: an example comes before the answer. */
function fenced(text: string): Json | undefined {
  for (const [, content] of [...text.matchAll(FENCE)].toReversed()) {
    const found = parsed(content!);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The longest object or list of a text. None if one does not end: then what stands in it is no answer. */
function amongWords(text: string): Json | undefined {
  let longest = '';
  for (let at = text.search(/[[{]/); at >= 0;) {
    const end = endOf(text, at);
    if (end === undefined) return undefined;
    const candidate = text.slice(at, end);
    if (candidate.length > longest.length && parsed(candidate) !== undefined) longest = candidate;
    const next = text.slice(end).search(/[[{]/);
    at = next < 0 ? -1 : end + next;
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
