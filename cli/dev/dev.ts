import { endingOf, exitCodes } from '#cli/endings.ts';
import { applyFiles } from '#cli/files/apply.ts';
import { listen, type ListenOptions } from '#cli/listen/listen.ts';
import { exactJson, printable } from '#cli/output.ts';
import type { Session } from '#cli/session.ts';
import { terminal } from '#cli/terminal.ts';
import { isSame, requireFolder, type Snapshot, snapshotOf, watchFolder } from './folder.ts';
import { serviceOf } from './dev-service.ts';

export interface DevOptions extends Pick<ListenOptions, 'events' | 'name'> {
  forwardTo?: string;
  publish?: true;
  allowInvalid?: true;
}

/**
 * Applies the workflow files of a folder now and after each change, until the signal is aborted; starts a service if
 * there is none, and forwards events if an address is given. A broken file is reported and changes nothing. Throws
 * Ending: `usage` for a folder that cannot be read, `unreachable` if the service that it started ends; and the endings
 * of `listen`.
 */
export async function dev(
  session: Session,
  folder: string,
  options: DevOptions,
  signal: AbortSignal,
): Promise<void> {
  await requireFolder(folder);
  const { forwardTo } = options;
  const leaving = new AbortController();
  const until = AbortSignal.any([signal, leaving.signal]);
  const service = await serviceOf(session, until);
  const own = { ...session, client: service.client };
  const parts = [
    applyChanges(own, folder, options, until),
    ...(forwardTo === undefined ? [] : [listen(own, { ...options, forwardTo }, until)]),
  ];
  try {
    await Promise.race([service.ended, Promise.all(parts)]);
  } finally {
    leaving.abort();
    await Promise.allSettled(parts);
    await service.stop();
  }
}

async function applyChanges(
  session: Session,
  folder: string,
  options: DevOptions,
  signal: AbortSignal,
): Promise<void> {
  const watching = watchFolder(folder, signal);
  let last: Snapshot | undefined;
  let isLeft = false;
  session.output.note(`Applying the workflow files in ${printable(folder)}. Ctrl-C ends`);
  try {
    for (;;) {
      const now = await snapshotOf(folder).catch(report);
      if (now !== undefined && (isLeft || last === undefined || !isSame(last, now))) {
        reportDeleted(session, last, now);
        last = now;
        isLeft = (await apply(session, folder, options)) === exitCodes.unreachable;
      }
      await watching.next();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    watching.close();
  }
}

/** Returns the exit code that `ops apply` would have. */
async function apply(
  session: Session,
  folder: string,
  { publish, allowInvalid }: DevOptions,
): Promise<number> {
  try {
    const set = { ...(publish && { publish }), ...(allowInvalid && { allowInvalid }) };
    await applyFiles(session, { file: [folder], onlyChanges: true, ...set });
    return exitCodes.ok;
  } catch (error) {
    report(error);
    return endingOf(error).code;
  }
}

function report(error: unknown): undefined {
  const { message } = endingOf(error);
  if (message !== '') terminal().stderr.write(`ops: ${printable(message)}\n`);
}

function reportDeleted({ output }: Session, before: Snapshot | undefined, now: Snapshot): void {
  for (const file of before?.keys() ?? []) {
    if (now.has(file)) continue;
    if (output.format === 'json') output.line(exactJson({ type: 'deleted', file }, 0));
    else {
      output.line(
        `${printable(file)}: deleted. Its workflow stays: ops workflows delete deletes it`,
      );
    }
  }
}
