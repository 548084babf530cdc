import { onceOf, type TriggerOptions } from './idempotency.ts';
import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { Run, Schedule } from './types.ts';

export function scheduleMethods(send: Send) {
  return {
    listSchedules: (
      query: QueryOf<'GET /api/schedules'> = {},
      options?: CallOptions,
    ): Promise<Schedule[]> =>
      wholeList((page) => send('GET /api/schedules', [], { query: page, options }), query),
    createSchedule: (
      body: BodyOf<'POST /api/schedules'>,
      options?: TriggerOptions,
    ): Promise<Schedule> => send('POST /api/schedules', [], { body, ...onceOf(options) }),
    getSchedule: (scheduleId: string, options?: CallOptions): Promise<Schedule> =>
      send('GET /api/schedules/{id}', [scheduleId], { options }),
    /** Omitted fields are unchanged. */
    updateSchedule: (
      scheduleId: string,
      body: BodyOf<'PUT /api/schedules/{id}'>,
      options?: WriteOptions,
    ): Promise<Schedule> => send('PUT /api/schedules/{id}', [scheduleId], { body, options }),
    /** Deletes a schedule. Runs that it started continue. */
    deleteSchedule: (scheduleId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/schedules/{id}', [scheduleId], { options }),
    /** Starts a run now, with the schedule's input. */
    triggerSchedule: (scheduleId: string, options?: TriggerOptions): Promise<Run> =>
      send('POST /api/schedules/{id}/trigger', [scheduleId], onceOf(options)),
  };
}
