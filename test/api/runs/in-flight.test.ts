import { describe, expect, test } from '@jest/globals';
import { createUntold } from '../../../api/load/in-flight.ts';

const pending = () => {
  let end = (): void => undefined;
  const told = new Promise<boolean>((resolve) => {
    end = () => resolve(true);
  });
  return { told, end };
};

describe('what Temporal is still to be told', () => {
  test('is not waited for while there is room, and is when there is none', async () => {
    const untold = createUntold(2);
    const calls = [pending(), pending(), pending()];
    await untold.add(calls[0]!.told);
    await untold.add(calls[1]!.told);
    let answered = false;
    const third = untold.add(calls[2]!.told).then(() => {
      answered = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(answered).toBe(false);
    calls[2]!.end();
    await third;
  });

  test('is waited for at the end', async () => {
    const untold = createUntold(10);
    const call = pending();
    await untold.add(call.told);
    let ended = false;
    const end = untold.told().then(() => {
      ended = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ended).toBe(false);
    call.end();
    await end;
    await untold.told();
  });
});
