import { describe, expect, test } from '@jest/globals';
import { createShortLane } from '#activities/short-lane.ts';

const never = new AbortController().signal;

function laneAt(start = 0) {
  let time = start;
  const lane = createShortLane({ besideOthers: 1, now: () => time });
  const entered: string[] = [];
  return {
    pass: (ms: number) => {
      time += ms;
    },
    entered,
    /** Records the step once it has a slot. */
    enter: (step: string, signal = never) => {
      const slot = lane.enter(step.charAt(0), signal);
      void slot.then(
        (leave) => leave && entered.push(step),
        () => undefined,
      );
      return slot;
    },
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the short lane of a worker', () => {
  test('gives a single workspace a slot per step, up to 25', async () => {
    const { enter, entered } = laneAt();
    const slots = await Promise.all(Array.from({ length: 25 }, (_, n) => enter(`a${n}`)));
    expect(entered).toHaveLength(25);
    expect(await enter('a25')).toBeUndefined();
    slots[0]!();
    expect(await enter('a26')).toBeInstanceOf(Function);
  });

  test('executes one step per workspace while others are active, in order of arrival', async () => {
    const { enter, entered } = laneAt();
    const first = (await enter('a0'))!;
    const other = (await enter('b0'))!;
    const second = enter('a1');
    void enter('a2');
    void enter('b1');
    await settled();
    expect(entered).toEqual(['a0', 'b0']);
    first();
    await settled();
    expect(entered).toEqual(['a0', 'b0', 'a1']);
    other();
    await settled();
    expect(entered).toEqual(['a0', 'b0', 'a1', 'b1']);
    (await second)!();
    await settled();
    expect(entered).toEqual(['a0', 'b0', 'a1', 'b1', 'a2']);
  });

  test('counts a workspace as active until a second after its last step', async () => {
    const { enter, entered, pass } = laneAt();
    (await enter('b0'))!();
    pass(999);
    const first = (await enter('a0'))!;
    void enter('a1');
    void enter('a2');
    await settled();
    expect(entered).toEqual(['b0', 'a0']);
    pass(1);
    first();
    await settled();
    expect(entered).toEqual(['b0', 'a0', 'a1', 'a2']);
  });

  test('counts waiting steps toward the 25', async () => {
    const { enter, entered } = laneAt();
    await enter('b0');
    for (let n = 0; n < 25; n += 1) void enter(`a${n}`);
    expect(await enter('a25')).toBeUndefined();
    await settled();
    expect(entered).toEqual(['b0', 'a0']);
  });

  test('drops a step that is aborted while it waits, and no other', async () => {
    const { enter, entered } = laneAt();
    await enter('b0');
    const first = (await enter('a0'))!;
    const aborted = new AbortController();
    const waiting = enter('a1', aborted.signal);
    void enter('a2');
    aborted.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await expect(enter('a3', aborted.signal)).rejects.toThrow('stopped');
    first();
    await settled();
    expect(entered).toEqual(['b0', 'a0', 'a2']);
  });
});
