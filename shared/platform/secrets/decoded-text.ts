/** A text with its escapes resolved. */
export interface Decoded {
  text: string;
  /** Per character: where it begins in the original; one more entry for the end. */
  starts: Uint32Array;
}

const PERCENT = /%[0-9a-f]{2}/i;
const ESCAPE = /\\(?:u[0-9a-f]{4}|["\\/bfnrt])/i;
const REFERENCE = /&#?[0-9a-z]/i;
const REFERENCES = /&(?:#x0*([0-9a-f]{1,6})|#0*([0-9]{1,7})|([a-z]{2,7}));?/gi;
/** Characters in secrets that HTML has names for, by their names in lower case. */
const CHARACTERS: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  bsol: '\\',
  plus: '+',
  nbsp: '\u00a0',
  equals: '=',
  colon: ':',
  semi: ';',
  lowbar: '_',
  period: '.',
  comma: ',',
  num: '#',
  quest: '?',
  lbrace: '{',
  rbrace: '}',
  lcub: '{',
  rcub: '}',
  lbrack: '[',
  rbrack: ']',
  lsqb: '[',
  rsqb: ']',
  lpar: '(',
  rpar: ')',
  excl: '!',
  dollar: '$',
  percnt: '%',
  ast: '*',
  commat: '@',
  hat: '^',
  grave: '`',
  verbar: '|',
  vert: '|',
  newline: '\n',
  tab: '\t',
  hyphen: '-',
  dash: '-',
};
const NAMED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Percent-decoded to bytes, one per character; other characters become their UTF-8 bytes. Undefined without an escape.
 */
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

/** With the character references of HTML resolved, even without their semicolons. Undefined if there are none. */
export const htmlDecoded = (text: string): Decoded | undefined =>
  REFERENCE.test(text)
    ? decoded(text, REFERENCES, (written, hex, digits, name) => {
        if (name !== undefined) return CHARACTERS[name.toLowerCase()] ?? written;
        const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
        return code > 0x10ffff ? written : String.fromCodePoint(code);
      })
    : undefined;

/** Applies two decodings in sequence, with positions in the original. */
export const throughBoth = (first: Decoded, second: Decoded): Decoded => ({
  text: second.text,
  starts: second.starts.map((at) => first.starts[at]!),
});

function decoded(
  text: string,
  escape: RegExp,
  resolve: (written: string, ...groups: (string | undefined)[]) => string,
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
    const resolved = resolve(match[0], ...match.slice(1));
    parts.push(resolved);
    for (let at = 0; at < resolved.length; at += 1) starts[length++] = match.index;
    end = match.index + match[0].length;
  }
  keep(text.length);
  starts[length] = text.length;
  return { text: parts.join(''), starts: starts.subarray(0, length + 1) };
}
