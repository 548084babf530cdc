import { expect, test } from '@jest/globals';
import { ConnectionError, createClient, StreamError } from '#client/index.ts';

const EVENTS = { headers: { 'content-type': 'text/event-stream' } };

/** The frames that a client reads with these answers in turn, and the requests that it makes. */
async function followed(answers: (Response | Error)[]) {
  const seen: number[] = [];
  const asked: string[] = [];
  const client = createClient({
    baseUrl: 'http://service.test',
    fetch: async (url) => {
      asked.push((url as string).replace('http://service.test', ''));
      const answer = answers.shift() ?? new Response(null, { status: 204 });
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  let error: unknown;
  try {
    for await (const { seq } of client.followRun('run_1')) seen.push(seq ?? -1);
  } catch (caught) {
    error = caught;
  }
  return { seen, asked, error };
}

test('a run that is followed continues after the last frame of a broken connection', async () => {
  const { seen, asked, error } = await followed([
    new Response('retry: 1000\n\nid: 3\ndata: {}\n\nid: 4\nda', EVENTS),
    new Error('reset'),
    new Response('id: 4\ndata: {}\n\nevent: end\ndata: {}\n\n', EVENTS),
  ]);
  const path = '/api/runs/run_1/stream';
  expect({ seen, error }).toEqual({ seen: [3, 4], error: undefined });
  expect(asked).toEqual([path, `${path}?after=3`, `${path}?after=3`]);
});

test('an answer without events is an error, and is not requested again', async () => {
  const { asked, error } = await followed([Response.json({})]);
  expect(error).toEqual(new StreamError(1003, 'http://service.test does not answer with events'));
  expect(asked).toHaveLength(1);
});

test('connections that end at once are an error after some tries', async () => {
  const { asked, error } = await followed(
    Array.from({ length: 9 }, () => new Response('', EVENTS)),
  );
  expect(error).toBeInstanceOf(ConnectionError);
  expect(asked).toHaveLength(6);
}, 30_000);
