import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import fc from 'fast-check';
import { isDue, isIntended, longestPause, nextDue } from '#shared/values/cron.ts';
import { specOf } from '#shared/operations/schedules/temporal-schedule.ts';
import { canonicalZone, offsetAt, zoneFile } from '#shared/values/time-zone.ts';
import { testTemporal } from '#test/support/temporal.ts';

const HOUR = 3_600_000;

/** A few hours before the clocks go forward and back. */
const clockChanges = {
  'Europe/Berlin': ['2027-03-27T23:10:00Z', '2027-10-30T22:10:00Z'],
  'America/New_York': ['2027-03-14T04:10:00Z', '2027-11-07T03:10:00Z'],
  'Australia/Lord_Howe': ['2027-10-02T13:10:00Z', '2027-04-03T12:10:00Z'],
};

const next = (cron: string, timezone: string, after: string, count: number): string[] => {
  const times: string[] = [];
  let at: number | undefined = Date.parse(after);
  while (times.length < count) {
    at = nextDue({ cron, timezone }, at);
    if (at === undefined) break;
    times.push(`${new Date(at).toISOString().slice(0, 16)}Z`);
  }
  return times;
};

describe('a cron expression', () => {
  test.each([
    ['* * * *', 'five fields'],
    ['* * * * * *', 'five fields'],
    [Array(60).fill('*').join(' '), 'five fields'],
    ['60 * * * *', "minute '60' is not 0 to 59"],
    ['* 24 * * *', "hour '24' is not 0 to 23"],
    ['* * 32 * *', "day of month '32' is not 1 to 31"],
    ['* * 0 * *', "day of month '0' is not 1 to 31"],
    ['* * * 13 *', "month '13' is not 1 to 12 or jan to dec"],
    ['* * * * 1,8', "day of week '8' is not 0 to 7 or sun to sat"],
    ['*/0 * * * *', "minute '\\*/0' has a step that is not 1 to 60"],
    ['0 0 * * */8', 'step that is not 1 to 7'],
    ['5/15 * * * *', "minute '5/15' has a step without a range"],
    ['0 0 L * *', "day of month 'L' is not"],
    ['0 0 * * 1#2', "day of week '1#2' is not"],
    ['0 0 ? * *', "day of month '\\?' is not"],
    ['0 0 * * MON-', "day of week 'MON-' is not"],
    ['0 0 * * FRI-MON', "day of week 'FRI-MON' is a range that begins after its end"],
    ['0 0 * * 7-1', 'begins after its end'],
    ['0 0 1,,2 * *', "day of month '' is not"],
    ['0 0 * constructor *', "month 'constructor' is not"],
    ['@reboot', 'five fields'],
    ['@every 5m', 'five fields'],
    ['TZ=UTC 0 0 * *', 'TZ=UTC'],
  ])('is refused if invalid, with a reason: %s', (cron, reason) => {
    expect(() => nextDue({ cron, timezone: 'UTC' }, 0)).toThrow(new RegExp(reason));
  });

  test('that never matches has no next time', () => {
    expect(next('0 0 30 2 *', 'UTC', '2026-01-01T00:00Z', 1)).toEqual([]);
    expect(next('0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', 1)).toEqual(['2028-02-29T00:00Z']);
  });

  test.each([
    ['SAT-SUN', [0, 6]],
    ['sat-7', [0, 6]],
    ['6-7', [0, 6]],
    ['1-7', [0, 1, 2, 3, 4, 5, 6]],
    ['mon-7', [0, 1, 2, 3, 4, 5, 6]],
    ['5-7', [0, 5, 6]],
    ['fri-SUN/2', [0, 5]],
    ['SUN-SUN', [0]],
    ['7-sun', [0]],
    ['7-7', [0]],
    ['SUN-TUE', [0, 1, 2]],
    ['0-7', [0, 1, 2, 3, 4, 5, 6]],
    ['0-7/3', [0, 3, 6]],
    ['*/3', [0, 3, 6]],
    ['7,WED,2-3', [0, 2, 3]],
  ])('for days of the week is due on exactly those days: %s', (text, days) => {
    const times = next(`0 0 * * ${text}`, 'UTC', '2027-02-01T12:00Z', 14);
    const found = new Set(times.map((time) => new Date(time).getUTCDay()));
    expect([...found].sort()).toEqual(days);
  });

  test('with day of month and day of week matches either one, or both if one begins with a star', () => {
    expect(next('0 0 1 * 1', 'UTC', '2027-04-20T00:00Z', 3)).toEqual([
      '2027-04-26T00:00Z',
      '2027-05-01T00:00Z',
      '2027-05-03T00:00Z',
    ]);
    // The Mondays on odd days.
    expect(next('0 0 */2 * 1', 'UTC', '2027-04-20T00:00Z', 3)).toEqual([
      '2027-05-03T00:00Z',
      '2027-05-17T00:00Z',
      '2027-05-31T00:00Z',
    ]);
    expect(next('0 0 13 * */5', 'UTC', '2027-04-20T00:00Z', 2)).toEqual([
      '2027-06-13T00:00Z',
      '2027-08-13T00:00Z',
    ]);
    expect(next('0 0 29 2 */7', 'UTC', '2026-01-01T00:00Z', 1)).toEqual(['2032-02-29T00:00Z']);
  });

  test('skips missing local times and runs twice at repeated ones', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2027-03-27T00:00Z', 2)).toEqual([
      '2027-03-27T01:30Z',
      '2027-03-29T00:30Z',
    ]);
    expect(next('30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00Z', 3)).toEqual([
      '2027-10-31T00:30Z',
      '2027-10-31T01:30Z',
      '2027-11-01T01:30Z',
    ]);
    // The clock moves by half an hour.
    expect(next('15,45 1 * * *', 'Australia/Lord_Howe', '2027-04-03T12:00Z', 4)).toEqual([
      '2027-04-03T14:15Z',
      '2027-04-03T14:45Z',
      '2027-04-03T15:15Z',
      '2027-04-04T14:45Z',
    ]);
  });

  test('accepts ticks at other times, unless a clock change may have caused them', () => {
    const meant = (at: string, timezone = 'Europe/Berlin', sameRules = true) =>
      isIntended({ cron: '30 2 * * *', timezone }, Date.parse(at), sameRules);
    expect(meant('2027-06-01T00:30:00Z')).toBe(true);
    expect(meant('2027-06-01T09:00:00Z')).toBe(true);
    expect(meant('2027-03-28T01:30:00Z')).toBe(false);
    expect(meant('2027-03-28T01:30:01Z')).toBe(true);
    expect(meant('2027-10-31T00:30:00Z')).toBe(true);
    expect(meant('2027-10-31T02:30:00Z')).toBe(false);
    expect(meant('2027-03-28T01:30:00Z', 'UTC')).toBe(true);
    // The server computed the time by other rules of the zone.
    expect(meant('2027-06-01T00:30:00Z', 'Europe/Berlin', false)).toBe(true);
    expect(meant('2027-06-01T01:30:00Z', 'Europe/Berlin', false)).toBe(false);
    expect(meant('2027-06-01T01:30:01Z', 'Europe/Berlin', false)).toBe(true);
  });

  test('for every 15 minutes ignores clock changes', () => {
    for (const [timezone, changes] of Object.entries(clockChanges)) {
      for (const after of changes) {
        let at = Math.floor(Date.parse(after) / HOUR) * HOUR;
        for (let quarters = 0; quarters < 48; quarters += 1) {
          const due = nextDue({ cron: '*/15 * * * *', timezone }, at);
          expect(due).toBe(at + HOUR / 4);
          at += HOUR / 4;
        }
      }
    }
  });

  test('has a known longest pause', () => {
    const from = Date.parse('2026-11-21T10:00Z');
    const hours = (cron: string) => longestPause({ cron, timezone: 'UTC' }, from) / HOUR;
    expect(hours('* * * * *')).toBeLessThan(1.1);
    expect(hours('0 * * * *')).toBeLessThanOrEqual(2);
    expect(hours('0 3 * * *')).toBe(25);
    // From Friday to Monday.
    expect(hours('0 9 * * 1-5')).toBe(73);
    expect(hours('0 0 31 * *')).toBeGreaterThan(62 * 24);
  });
});

describe('a time zone', () => {
  test('is matched by name in the casing that the server knows', () => {
    expect(canonicalZone('europe/berlin')).toBe('Europe/Berlin');
    expect(canonicalZone('Asia/Kolkata')).toBe('Asia/Kolkata');
    expect(canonicalZone('Asia/Ho_Chi_Minh')).toBe('Asia/Ho_Chi_Minh');
    expect(canonicalZone('asia/kolkata')).toBe('Asia/Calcutta');
    expect(canonicalZone('ASIA/KOLKATA')).toBe('Asia/Calcutta');
    expect(canonicalZone('Mars/Olympus')).toBeUndefined();
    expect(canonicalZone('+01:00')).toBeUndefined();
  });
});

describe('the Temporal server', () => {
  let connection: Connection;
  let client: Client;
  const { taskQueuePrefix } = testTemporal();
  beforeAll(async () => {
    connection = await Connection.connect({ address: testTemporal().address });
    client = new Client({ connection });
  });
  afterAll(() => connection.close());

  const timestamp = (at: number) =>
    proto.google.protobuf.Timestamp.fromObject({ seconds: at / 1_000 });

  /** The next times of a schedule, as the server computes them: ten from its description, or all within some days. */
  async function atServer(
    cron: string,
    timezone: string,
    after: string,
    { days }: { days?: number } = {},
  ): Promise<string[]> {
    const from = Date.parse(after);
    const scheduleId = `${taskQueuePrefix}-${randomBytes(6).toString('hex')}`;
    const { workflowService } = connection;
    const spec = specOf({ cron, timezone }, from);
    spec.startTime = timestamp(from + 1_000);
    await workflowService.createSchedule({
      namespace: 'default',
      scheduleId,
      requestId: scheduleId,
      schedule: {
        spec,
        action: {
          startWorkflow: {
            workflowId: scheduleId,
            workflowType: { name: 'none' },
            taskQueue: { name: 'none' },
          },
        },
        state: { paused: true },
      },
    });
    const handle = client.schedule.getHandle(scheduleId);
    const times =
      days === undefined
        ? (await handle.describe()).info.nextActionTimes
        : (
            await workflowService.listScheduleMatchingTimes({
              namespace: 'default',
              scheduleId,
              startTime: timestamp(from),
              endTime: timestamp(from + days * 24 * HOUR),
            })
          ).startTime.map(({ seconds }) => new Date(Number(seconds) * 1_000));
    await handle.delete();
    return times.map((time) => `${time.toISOString().slice(0, 16)}Z`);
  }

  const crons = ['*/20 * * * *', '0 * * * *', '30 1 * * *', '30 2 * * *', '15,45 1-3 * * *'];
  const cases = Object.entries(clockChanges).flatMap(([zone, times]) =>
    times.flatMap((after) => crons.map((cron) => [cron, zone, after] as const)),
  );

  test.each(cases)('agrees on %s in %s after %s', async (cron, zone, after) => {
    // The server may add a time or two that are not the cron's, which a tick detects; it must omit none.
    const told = await atServer(cron, zone, after);
    const due = told.filter((time) => isDue({ cron, timezone: zone }, Date.parse(time)));
    expect(due.length).toBeGreaterThanOrEqual(9);
    expect(due).toEqual(next(cron, zone, after, due.length));
  });

  test.each([
    '0 0 * * SAT-SUN',
    '0 0 * * 1-7',
    '0 0 * * mon-7',
    '0 0 * * SUN-SUN',
    '0 0 */2 * 1',
    '0 0 13 * */5',
    '5-59/7 */3 * * *',
    '0 0 * * 7',
    '0 12 * * 5-7',
    '0 0 1,15 * fri',
    '0 6 * jan-mar MON-FRI',
    '0 0 29 2 *',
    '*/60 * * * *',
    '0 0 31 * *',
    '0 0 */10 * *',
    '0 0 * * 1-5/2',
    '@weekly',
    '@monthly',
    '@yearly',
    '@daily',
    '@hourly',
  ])('agrees on %s', async (cron) => {
    const after = '2027-11-21T10:07:00Z';
    expect(await atServer(cron, 'Asia/Kolkata', after)).toEqual(
      next(cron, 'Asia/Kolkata', after, 10),
    );
  });

  const value = (from: number, to: number, names: readonly string[] = []) =>
    fc.oneof(
      fc.integer({ min: from, max: to }).map(String),
      ...(names.length === 0 ? [] : [fc.constantFrom(...names)]),
    );
  const field = (from: number, to: number, names?: readonly string[]) => {
    const one = value(from, to, names);
    const range = fc.tuple(one, one).map(([start, end]) => `${start}-${end}`);
    const step = fc.integer({ min: 1, max: 5 });
    const stepped = fc
      .tuple(fc.oneof(fc.constant('*'), range), step)
      .map(([of, each]) => `${of}/${each}`);
    const part = fc.oneof({ weight: 3, arbitrary: one }, range, stepped);
    return fc.oneof(
      { weight: 2, arbitrary: fc.constant('*') },
      fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(',')),
    );
  };
  const cronText = fc
    .tuple(
      fc.oneof(fc.constant('0'), field(0, 59)),
      field(0, 23),
      field(1, 31),
      field(1, 12, ['jan', 'JUN', 'Dec']),
      field(0, 7, ['SUN', 'mon', 'Wed', 'sat']),
    )
    .map((fields) => fields.join(' '));
  /** The rules of the first ones changed lately: the server and this process may know different ones. */
  const zones = [
    ...['America/Vancouver', 'America/Edmonton', 'Africa/Casablanca', 'Africa/El_Aaiun'],
    ...['Canada/Pacific', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York', 'UTC'],
  ];

  test('agrees on generated crons in every zone', async () => {
    const timing = fc.record({
      cron: cronText,
      zone: fc.constantFrom(...zones),
      day: fc.integer({ min: 0, max: 900 }),
    });
    const from = Date.parse('2026-12-01T00:00:00Z');
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(timing, async ({ cron, zone, day }) => {
        const after = new Date(from + day * 24 * HOUR).toISOString();
        let ours: string[];
        try {
          ours = next(cron, zone, after, 10);
        } catch (error) {
          // A range that begins after its end.
          expect(String(error)).toMatch(/begins after its end/);
          return;
        }
        const steady = (time: string) =>
          offsetAt(zone, Date.parse(time) - 24 * HOUR) ===
          offsetAt(zone, Date.parse(time) + 24 * HOUR);
        const theirs = (await atServer(cron, zone, after)).filter(
          (time) => steady(time) || isDue({ cron, timezone: zone }, Date.parse(time)),
        );
        expect(theirs).toEqual(ours.slice(0, theirs.length));
        expect(theirs.length).toBeGreaterThanOrEqual(Math.min(ours.length, 8));
        compared += 1;
      }),
      { numRuns: 80, seed: 1 },
    );
    expect(compared).toBeGreaterThan(30);
  }, 120_000);

  test.each(zones)('is due at nine in the morning for two years in %s', async (zone) => {
    const cron = '0 9 * * *';
    const after = '2026-12-01T00:00:00.000Z';
    const days = 731;
    expect(await atServer(cron, zone, after, { days })).toEqual(next(cron, zone, after, days));
  });
});

describe('the file of a zone', () => {
  test.each(['Europe/Berlin', 'Asia/Kolkata', 'Africa/Casablanca', 'Etc/GMT+7'])(
    'has the rules of this process: %s',
    (zone) => {
      const file = Buffer.from(zoneFile(zone));
      expect(file.subarray(0, 5).toString()).toBe('TZif2');
      const [changes, types] = [file.readUInt32BE(44 + 32), file.readUInt32BE(44 + 36)];
      const offsets = Array.from({ length: types }, (_, at) =>
        file.readInt32BE(88 + 9 * changes + 6 * at),
      );
      expect(offsets[0]).toBe(offsetAt(zone, Date.UTC(2020, 0, 1)) / 1_000);
      for (let at = 0; at < changes; at += 1) {
        const second = Number(file.readBigInt64BE(88 + 8 * at));
        const offset = offsets[file.readUInt8(88 + 8 * changes + at)];
        expect(offset).toBe(offsetAt(zone, second * 1_000) / 1_000);
        expect(offset).not.toBe(offsetAt(zone, second * 1_000 - 1_000) / 1_000);
      }
    },
  );
});
