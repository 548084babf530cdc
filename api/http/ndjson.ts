import { MAX_LINE_BYTES } from '#shared/contract/data/ingest.ts';
import { messageOf } from '#shared/errors.ts';
import { parseExactJson } from '#shared/outside-json.ts';
import type { SentRecord } from '#shared/operations/data/ingest.ts';
import { refuseUnsafe } from '#shared/values/unsafe-json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const NEWLINE = 0x0a;

/**
 * Yields the lines of a stream of JSON values, numbered from 1, each with its value or its error. Empty lines are
 * skipped. Holds at most one line and one chunk, and reads on demand.
 */
export async function* readNdjson(stream: AsyncIterable<Buffer>): AsyncGenerator<SentRecord> {
  let line = 1;
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (): SentRecord | undefined => {
    const sent =
      bytes > MAX_LINE_BYTES
        ? { line, reason: `is longer than ${MAX_LINE_BYTES} bytes` }
        : parseLine(line, Buffer.concat(parts));
    parts = [];
    bytes = 0;
    line += 1;
    return sent;
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      keep(chunk.subarray(from, end));
      from = end + 1;
      const sent = take();
      if (sent !== undefined) yield sent;
    }
    keep(chunk.subarray(from));
  }
  const last = take();
  if (last !== undefined) yield last;

  // For a line that is too long, only its length is tracked.
  function keep(part: Buffer): void {
    bytes += part.length;
    if (bytes > MAX_LINE_BYTES) parts = [];
    else if (part.length > 0) parts.push(part);
  }
}

function parseLine(line: number, bytes: Buffer): SentRecord | undefined {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { line, reason: 'is not valid UTF-8' };
  }
  if (text.trim() === '') return undefined;
  try {
    const value = parseExactJson('record', text);
    refuseUnsafe('record', value);
    return { line, value, size: bytes.length };
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'is not valid JSON' : messageOf(error);
    return { line, reason };
  }
}
