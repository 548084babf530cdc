/** A text with its escapes resolved. */
export interface Decoded {
  text: string;
  /** Per character, where it begins in the original; one more for the end. */
  starts: Uint32Array;
}

const PERCENT = /%[0-9a-f]{2}/i;
const ESCAPE = /\\(?:u[0-9a-f]{4}|["\\/bfnrt])/i;
const NAMED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Percent-decoded to bytes, one per character; other characters are their UTF-8. Undefined without an escape. */
export const percentDecoded = (text: string): Decoded | undefined =>
  PERCENT.test(text)
    ? decoded(text, /%([0-9a-f]{2})|[^\0-\x7f]/giu, (written, hex) =>
        hex === undefined
          ? Buffer.from(written, 'utf8').toString('latin1')
          : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : undefined;

/** With the escapes of JSON strings resolved. Undefined without one. */
export const jsonUnescaped = (text: string): Decoded | undefined =>
  ESCAPE.test(text)
    ? decoded(text, /\\(?:u([0-9a-f]{4})|["\\/bfnrt])/gi, (written, hex) =>
        hex === undefined
          ? (NAMED[written.charAt(1)] ?? written.charAt(1))
          : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : undefined;

function decoded(
  text: string,
  escape: RegExp,
  resolve: (written: string, hex: string | undefined) => string,
): Decoded {
  const parts: string[] = [];
  // A character becomes at most three bytes.
  const starts = new Uint32Array(3 * text.length + 1);
  let length = 0;
  let end = 0;
  const keep = (until: number): void => {
    if (until > end) parts.push(text.slice(end, until));
    for (; end < until; end += 1) starts[length++] = end;
  };
  for (const match of text.matchAll(escape)) {
    keep(match.index);
    const resolved = resolve(match[0], match[1]);
    parts.push(resolved);
    for (let at = 0; at < resolved.length; at += 1) starts[length++] = match.index;
    end = match.index + match[0].length;
  }
  keep(text.length);
  starts[length] = text.length;
  return { text: parts.join(''), starts: starts.subarray(0, length + 1) };
}
