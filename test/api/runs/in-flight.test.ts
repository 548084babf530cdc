import { describe, expect, test } from '@jest/globals';
import { createInFlight } from '#api/load/in-flight.ts';

const pending = () => {
  let end = (): void => undefined;
  const dispatched = new Promise<boolean>((resolve) => {
    end = () => resolve(true);
  });
  return { dispatched, end };
};

describe('calls to Temporal in flight', () => {
  test('are awaited only when the limit is reached', async () => {
    const inFlight = createInFlight(2);
    const calls = [pending(), pending(), pending()];
    await inFlight.add(calls[0]!.dispatched);
    await inFlight.add(calls[1]!.dispatched);
    let answered = false;
    const third = inFlight.add(calls[2]!.dispatched).then(() => {
      answered = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(answered).toBe(false);
    calls[2]!.end();
    await third;
  });

  test('are awaited at the end', async () => {
    const inFlight = createInFlight(10);
    const call = pending();
    await inFlight.add(call.dispatched);
    let ended = false;
    const end = inFlight.settled().then(() => {
      ended = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ended).toBe(false);
    call.end();
    await end;
    await inFlight.settled();
  });
});
