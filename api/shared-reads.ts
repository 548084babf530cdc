/**
 * Reads that many ask for at the same moment. One of a kind is under way at a time, and all who ask meanwhile get the
 * next: what they are told was read after they asked, so a change that somebody has been told of is never missed.
 */
export interface SharedReads<T> {
  /** What `read` comes to, or another's read of the same `key` that begins no earlier than this call. */
  get(key: string, read: () => Promise<T>): Promise<T>;
}

export function createSharedReads<T>(): SharedReads<T> {
  const lines = new Map<string, { current: Promise<T>; next: Promise<T> | undefined }>();
  const begin = (key: string, read: () => Promise<T>): Promise<T> => {
    const line = { current: read(), next: undefined };
    lines.set(key, line);
    const leave = (): void => {
      if (lines.get(key)?.next === undefined) lines.delete(key);
    };
    line.current.then(leave, leave);
    return line.current;
  };
  return {
    get: (key, read) => {
      const line = lines.get(key);
      if (line === undefined) return begin(key, read);
      const start = () => begin(key, read);
      line.next ??= line.current.then(start, start);
      return line.next;
    },
  };
}
