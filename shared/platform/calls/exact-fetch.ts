import { sizeProblem, withDigits } from '#shared/outside-json.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import { EgressError, hostOf } from '#shared/platform/egress/error.ts';
import { isJson } from './outside.ts';

interface Reading {
  /** Whether the number at this path becomes the text of its digits if no double can represent it. */
  concerns: (path: readonly string[]) => boolean;
  /** Throws for a text that must not be read as a response. */
  check?: (text: string) => void;
  /** Called with the error for JSON that is too large, even if the SDK hides the error. */
  onTooLarge?: (error: EgressError) => void;
}

/**
 * `fetch` for SDKs that parse responses themselves, of any content type. In a successful response, each JSON text (the
 * body or an event of a stream) is measured first, and keeps the digits of its numbers. A refusal with a JSON text that
 * is too large is replaced by that error. Throws EgressError `too_large`.
 */
export const exactFetch =
  (fetch: Egress['fetch'], { concerns, check, onTooLarge }: Reading): Egress['fetch'] =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    if (!response.ok) {
      const text = await response.text();
      return new Response(sizeProblem(text) ?? text, response);
    }
    const read = (text: string): string => {
      const problem = sizeProblem(text);
      if (problem === undefined) {
        check?.(text);
        return withDigits(text, concerns);
      }
      const host = hostOf(new URL(input instanceof Request ? input.url : input));
      const tooLarge = new EgressError('too_large', `The JSON of ${host} is too large: ${problem}`);
      onTooLarge?.(tooLarge);
      throw tooLarge;
    };
    if (isJson(response.headers.get('content-type') ?? '')) {
      return new Response(read(await response.text()), response);
    }
    const events = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(eventsOf(read))
      .pipeThrough(new TextEncoderStream());
    return new Response(events, response);
  };

const DATA = /^data(?:: ?|$)/;
/** A carriage return at the end may be half of a line break. */
const LINE_END = /\r\n|\n|\r(?!$)/;

/** Reads the data of events, which can be several lines. Without events, the whole text is one JSON text. */
function eventsOf(read: (text: string) => string): TransformStream<string, string> {
  let isWhole: boolean | undefined;
  let rest = '';
  let event: string[] = [];
  /** The event so far, with its data at the end. */
  const written = (): string => {
    const data = event.flatMap((line) => (DATA.test(line) ? line.replace(DATA, '') : []));
    const others = event.filter((line) => !DATA.test(line));
    event = [];
    const lines = data.length === 0 ? [] : read(data.join('\n')).split('\n');
    return [...others, ...lines.map((line) => `data: ${line}`)].map((line) => `${line}\n`).join('');
  };
  const take = (lines: readonly string[], controller: TransformStreamDefaultController<string>) => {
    for (const line of lines) {
      if (line === '') controller.enqueue(`${written()}\n`);
      else event.push(line);
    }
  };
  return new TransformStream({
    transform: (chunk, controller) => {
      rest += chunk;
      if (isWhole === undefined && rest.trim() !== '') isWhole = /^\s*[[{]/.test(rest);
      if (isWhole !== false) return;
      const lines = rest.split(LINE_END);
      rest = lines.pop() ?? '';
      take(lines, controller);
    },
    flush: (controller) => {
      if (isWhole !== false) return controller.enqueue(read(rest));
      if (rest !== '') take([rest.replace(/\r$/, '')], controller);
      controller.enqueue(written());
    },
  });
}
