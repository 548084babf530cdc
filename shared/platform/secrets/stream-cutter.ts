import type { SecretCutter } from './secret-cutter.ts';

/** The number of characters that are held back. A secret is recognized by its first 64 characters, or all of them. */
const HELD_BACK = 64;
/** Like `HELD_BACK`, for characters that are written as escapes, such as `&#x00022;`. */
const HELD_BACK_ESCAPED = HELD_BACK * 10;

/**
 * Redacts secrets in a text that arrives in pieces, even if a secret is split between two pieces. What it passes to
 * `receive` adds up to the redacted text; `end` passes the rest.
 */
export function createStreamCutter(
  { json }: SecretCutter,
  receive: (text: string) => void,
): { add: (piece: string) => void; end: () => void } {
  const cut = (text: string): string => json(text) as string;
  const pass = (text: string): void => {
    if (text !== '') receive(text);
  };
  let held = '';
  return {
    add: (piece) => {
      held += piece;
      const redacted = cut(held);
      const place = boundary(held);
      const before = cut(held.slice(0, place));
      // Otherwise a secret may span the boundary, which moves with the next piece.
      if (before + cut(held.slice(place)) !== redacted) return;
      pass(before);
      held = held.slice(place);
    },
    end: () => {
      pass(cut(held));
      held = '';
    },
  };
}

/** Never within a surrogate pair, whose halves could not be encoded. */
function boundary(text: string): number {
  const from = Math.max(0, text.length - HELD_BACK_ESCAPED);
  const escape = text.slice(from).search(/[%\\&]/);
  const end = escape < 0 ? text.length : from + escape;
  const place = Math.max(0, Math.min(text.length, end) - HELD_BACK);
  return /[\ud800-\udbff]/.test(text.charAt(place - 1)) ? place - 1 : place;
}
