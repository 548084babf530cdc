import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { EgressError, findEgressError, hostOf } from './error.ts';

export interface BodyLimits {
  url: URL;
  signal: AbortSignal;
  /** Limits the decompressed body, so that a small archive cannot become a large buffer. */
  maxBytes: number;
  onEnd?: () => void;
  onError?: (error: unknown) => void;
}

export type Bytes = NodeReadableStream<Uint8Array>;

/** The whole body. Throws EgressError above the limit, the signal's reason on a timeout or abort. */
export async function readBounded(body: Bytes, limits: BodyLimits): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const reader = countingReader(body, limits);
  for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Like `readBounded`, as a stream for SDKs that read events as they arrive. */
export function boundedStream(body: Bytes, limits: BodyLimits): ReadableStream<Uint8Array> {
  const reader = countingReader(body, limits);
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const chunk = await reader.read();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: reader.cancel,
  });
}

function countingReader(body: Bytes, limits: BodyLimits) {
  const reader = body.getReader();
  let bytes = 0;
  // Frees the socket of a partly read body; a finished stream ignores it.
  const cancel = async (): Promise<void> => {
    limits.onEnd?.();
    await reader.cancel().catch(() => undefined);
  };
  /** The next chunk, or undefined at the end. */
  const read = async (): Promise<Uint8Array | undefined> => {
    try {
      const { done, value } = await reader.read();
      if (done) {
        limits.onEnd?.();
        return undefined;
      }
      bytes += value.byteLength;
      if (bytes <= limits.maxBytes) return value;
      throw new EgressError(
        'too_large',
        `The response of '${hostOf(limits.url)}' exceeds ${limits.maxBytes} bytes`,
      );
    } catch (error) {
      await cancel();
      const failure: unknown = limits.signal.aborted
        ? limits.signal.reason
        : (findEgressError(error) ?? brokenOff(limits.url, error));
      limits.onError?.(failure);
      throw failure;
    }
  };
  return { read, cancel };
}

const brokenOff = (url: URL, cause: unknown): EgressError =>
  new EgressError('unreachable', `'${hostOf(url)}' interrupted its response`, { cause });
