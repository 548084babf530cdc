import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import {
  canonicalZone,
  cronExpressions,
  dueTwice,
  isDue,
  isIntended,
  longestPause,
  nextDue,
} from '../../shared/values/cron.ts';
import { once } from '../../shared/operations/schedules/sync.ts';
import { testTemporal } from '../support/temporal.ts';

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
    ['60 * * * *', 'minute'],
    ['* 24 * * *', 'hour'],
    ['* * 0 * *', 'day'],
    ['*/0 * * * *', 'stepping'],
    ['5/15 * * * *', 'stepping'],
    ['0 0 L * *', 'L'],
    ['0 0 * * 1#2', '1#2'],
    ['0 0 ? * *', '\\?'],
    ['0 0 * * MON-', 'not understood'],
    ['@reboot', 'five fields'],
    ['@every 5m', 'five fields'],
    ['TZ=UTC 0 0 * *', 'TZ=UTC'],
  ])('is refused if invalid, with a reason: %s', (cron, reason) => {
    expect(() => nextDue({ cron, timezone: 'UTC' }, 0)).toThrow(new RegExp(reason, 'i'));
  });

  test('that never matches has no next time', () => {
    expect(next('0 0 30 2 *', 'UTC', '2026-01-01T00:00Z', 1)).toEqual([]);
    expect(next('0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', 1)).toEqual(['2028-02-29T00:00Z']);
  });

  test('with day of month and day of week matches either', () => {
    expect(cronExpressions('0 0 1 * 1')).toEqual(['0 0 1 * *', '0 0 * * 1']);
    expect(next('0 0 1 * 1', 'UTC', '2027-04-20T00:00Z', 3)).toEqual([
      '2027-04-26T00:00Z',
      '2027-05-01T00:00Z',
      '2027-05-03T00:00Z',
    ]);
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
    const meant = (at: string, timezone = 'Europe/Berlin') =>
      isIntended({ cron: '30 2 * * *', timezone }, Date.parse(at));
    expect(meant('2027-06-01T00:30:00Z')).toBe(true);
    expect(meant('2027-06-01T09:00:00Z')).toBe(true);
    expect(meant('2027-03-28T01:30:00Z')).toBe(false);
    expect(meant('2027-03-28T01:30:01Z')).toBe(true);
    expect(meant('2027-10-31T00:30:00Z')).toBe(true);
    expect(meant('2027-10-31T02:30:00Z')).toBe(false);
    expect(meant('2027-03-28T01:30:00Z', 'UTC')).toBe(true);
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

  /** The next ten times of a schedule, as the server computes them. */
  async function atServer(cron: string, timezone: string, after: string): Promise<string[]> {
    const from = Date.parse(after);
    const handle = await client.schedule.create({
      scheduleId: `${taskQueuePrefix}-${randomBytes(6).toString('hex')}`,
      spec: {
        cronExpressions: cronExpressions(cron),
        timezone,
        intervals: dueTwice({ cron, timezone }, from, 400).map(once),
        startAt: new Date(from + 1_000),
      },
      action: { type: 'startWorkflow', workflowType: 'none', taskQueue: 'none', args: [] },
    });
    const { info } = await handle.describe();
    await handle.delete();
    return info.nextActionTimes.map((time) => `${time.toISOString().slice(0, 16)}Z`);
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
});
