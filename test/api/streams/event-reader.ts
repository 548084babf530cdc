import type { App } from '#api/deps.ts';

export interface ReadEvent {
  event: string;
  id: number | undefined;
  // Tests read frames of every type.
  data: any;
}

export interface EventReader {
  response: Response;
  events: ReadEvent[];
  /** Resolves once this many events have arrived. */
  until(count: number): Promise<ReadEvent[]>;
  /** Resolves once this many comments have arrived. */
  untilComments(count: number): Promise<void>;
  /** Resolves once the response has ended, or was cut. */
  ended: Promise<void>;
  leave(): void;
}

export const addressOf = async (app: App): Promise<string> => {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(app.server.address() as { port: number }).port}`;
};

/** Reads server-sent events as a browser does, over a real connection. */
export async function readEvents(
  app: App,
  runId: string,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<EventReader> {
  const controller = new AbortController();
  const response = await fetch(`${await addressOf(app)}/api/runs/${runId}/stream${query}`, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: controller.signal,
  });
  const events: ReadEvent[] = [];
  let comments = 0;
  const waiting = new Set<() => void>();
  const read = async (): Promise<void> => {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      events.push(...blocks.filter((block) => /^data: /m.test(block)).map(parse));
      comments += blocks.filter((block) => block.startsWith(':')).length;
      for (const check of waiting) check();
    }
  };
  return {
    response,
    events,
    ended:
      response.ok && response.body !== null ? read().catch(() => undefined) : Promise.resolve(),
    leave: () => controller.abort(),
    until: (count) =>
      new Promise((resolve) => {
        const check = () => events.length >= count && resolve(events);
        waiting.add(check);
        check();
      }),
    untilComments: (count) =>
      new Promise((resolve) => {
        const check = () => comments >= count && resolve();
        waiting.add(check);
        check();
      }),
  };
}

function parse(block: string): ReadEvent {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  const id = field('id');
  return {
    event: field('event') ?? 'message',
    id: id === undefined ? undefined : Number(id),
    data: JSON.parse(field('data') ?? 'null'),
  };
}
