import { useSyncExternalStore } from 'react';
import { api } from './api.ts';

/**
 * What keeps the console from working: the service does not respond, a file of the console does not arrive, or the files
 * are those of an older version. Until it is over, the console asks again by itself.
 */
export interface Trouble {
  of: 'service' | 'file' | 'version';
  /** The time of the service's last response, in ms since 1970, because pages show nothing newer. */
  since: number;
  /** The time of the next attempt; undefined while one is made. */
  nextTry: number | undefined;
  /** Whether an action of the user got no response. */
  unanswered: boolean;
}

const ASK_EVERY_MS = 3_000;
const ANSWER_WITHIN_SECONDS = 5;

/** The time of the service's last response. */
let responded = Date.now();
let trouble: Trouble | undefined;
/** Reads again what the pages show, if the service did not respond. */
let onReturn: (() => void) | undefined;
/** The files that did not arrive, each with what loads it again. */
const missing = new Map<symbol, () => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Call this when a call got no response. Calls `returned` when the service responds again. */
export function connectionLost(returned: () => void): void {
  if (onReturn !== undefined) return;
  onReturn = returned;
  begin('service');
}

/** Call this when a call got a response. */
export function connectionWorks(): void {
  responded = Date.now();
  const returned = onReturn;
  onReturn = undefined;
  if (missing.size === 0) show(undefined);
  returned?.();
}

/** Call this when an action that shows no error itself got no response. */
export function actionUnanswered(): void {
  update({ unanswered: true });
}

/** Resolves when it is time to load the file again. */
export const fileFailed = (file: symbol): Promise<void> =>
  new Promise((resolve) => {
    missing.set(file, resolve);
    begin('file');
  });

/** Call this when a file has arrived. */
export function fileArrived(file: symbol): void {
  if (missing.delete(file) && missing.size === 0 && onReturn === undefined) show(undefined);
}

/** What keeps the console from working at the moment, if anything does. */
export const useTrouble = (): Trouble | undefined => useSyncExternalStore(subscribe, () => trouble);

function begin(of: Trouble['of']): void {
  if (trouble !== undefined) return;
  show({ of, since: responded, nextTry: undefined, unanswered: false });
  // A file alone can be missing, so whether the service responds is asked at once.
  if (of === 'file') void ask();
  else askLater();
}

function askLater(): void {
  if (trouble === undefined) return;
  update({ nextTry: Date.now() + ASK_EVERY_MS });
  clearTimeout(timer);
  timer = setTimeout(() => void ask(), ASK_EVERY_MS);
}

async function ask(): Promise<void> {
  if (trouble === undefined) return;
  update({ nextTry: undefined });
  const responds = await api()
    .getHealth({ timeout: ANSWER_WITHIN_SECONDS })
    .then(
      () => true,
      () => false,
    );
  if (responds) {
    const of = missing.size > 0 && (await isOutdated()) ? 'version' : 'file';
    connectionWorks();
    for (const load of missing.values()) load();
    update({ of });
  } else {
    update({ of: 'service' });
  }
  askLater();
}

/** Whether the service has another version of the console than this page, so that its files no longer exist. */
async function isOutdated(): Promise<boolean> {
  const entry = document.querySelector('script[type="module"][src]')?.getAttribute('src');
  const response = await fetch('/', { headers: { accept: 'text/html' }, cache: 'no-store' }).catch(
    () => undefined,
  );
  if (response?.ok !== true || entry == null) return false;
  return !(await response.text()).includes(entry);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function update(change: Partial<Trouble>): void {
  if (trouble !== undefined) show({ ...trouble, ...change });
}

function show(next: Trouble | undefined): void {
  if (next === trouble) return;
  trouble = next;
  for (const listener of listeners) listener();
}
