/** Up to this product of lengths, the engine's own search is fast enough, even where it is quadratic. */
const SMALL = 1_000_000;

/**
 * Whether a text contains a substring, in linear time. `String.includes` compares from the end and may read the whole
 * part at every position: 37 s for 500,000 characters in a text of a million, and nothing can stop it.
 */
export function holdsText(text: string, piece: string): boolean {
  if (piece.length > text.length) return false;
  if (piece.length * text.length <= SMALL || piece.length < 8) return text.includes(piece);
  return search(text, piece);
}

/** Knuth-Morris-Pratt. */
function search(text: string, piece: string): boolean {
  const borders = bordersOf(piece);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && piece.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (piece.charCodeAt(matched) === unit) matched += 1;
    if (matched === piece.length) return true;
  }
  return false;
}

/** For each prefix of the substring: the length of its longest proper prefix that is also its suffix. */
function bordersOf(piece: string): Int32Array {
  const borders = new Int32Array(piece.length);
  let length = 0;
  for (let at = 1; at < piece.length; at += 1) {
    const unit = piece.charCodeAt(at);
    while (length > 0 && piece.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (piece.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}
