/**
 * Splits a text stream into lines, only at `\n` and `\r\n`. Node's `readline` also splits at U+2028 and U+2029, which
 * JSON strings can contain unescaped. Text after the last line break is a line unless it is empty.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  // Joined once per line: repeated appends to a long text would take quadratic time.
  let parts: string[] = [];
  for await (const chunk of chunks) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      yield withoutReturn(parts.join('') + text.slice(from, end));
      parts = [];
      from = end + 1;
    }
    if (from < text.length) parts.push(text.slice(from));
  }
  const rest = parts.join('') + decoder.decode();
  if (rest !== '') yield withoutReturn(rest);
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);
