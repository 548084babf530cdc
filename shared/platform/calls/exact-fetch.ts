import { sizeProblem, withDigits } from '../../outside-json.ts';
import type { Egress } from '../egress/egress.ts';
import { EgressError, hostOf } from '../egress/error.ts';
import { isJson } from './outside.ts';

interface Reading {
  /** By its path, whether a number that no double holds becomes the text of its digits. */
  concerns: (path: readonly string[]) => boolean;
  /** Receives the error for JSON that is too large, also where the SDK hides it. */
  onTooLarge?: (error: EgressError) => void;
}

/**
 * `fetch` for SDKs that parse responses themselves: each JSON text in a successful response, whole or as an event of a
 * stream, is measured first, and keeps the digits of its numbers. Throws EgressError `too_large`.
 */
export const exactFetch =
  (fetch: Egress['fetch'], { concerns, onTooLarge }: Reading): Egress['fetch'] =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || response.body === null) return response;
    const read = (text: string): string => {
      const problem = sizeProblem(text);
      if (problem === undefined) return withDigits(text, concerns);
      const host = hostOf(new URL(input instanceof Request ? input.url : input));
      const tooLarge = new EgressError('too_large', `The JSON of ${host} is too large: ${problem}`);
      onTooLarge?.(tooLarge);
      throw tooLarge;
    };
    const type = response.headers.get('content-type') ?? '';
    if (isJson(type)) return new Response(read(await response.text()), response);
    if (!/^\s*text\/event-stream\b/i.test(type)) return response;
    const events = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(eventsOf(read))
      .pipeThrough(new TextEncoderStream());
    return new Response(events, response);
  };

const DATA = /^data: ?/;

/** Reads the data of events, line by line; a JSON text in an event is one line. */
function eventsOf(read: (text: string) => string): TransformStream<string, string> {
  let rest = '';
  const readLine = (line: string): string => {
    const field = DATA.exec(line)?.[0];
    return field === undefined ? line : field + read(line.slice(field.length));
  };
  return new TransformStream({
    transform: (chunk, controller) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) controller.enqueue(`${lines.map(readLine).join('\n')}\n`);
    },
    flush: (controller) => {
      if (rest !== '') controller.enqueue(readLine(rest));
    },
  });
}
