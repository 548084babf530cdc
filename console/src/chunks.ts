import { type ComponentType, lazy, type LazyExoticComponent } from 'react';
import { fileArrived, fileFailed } from './connection.ts';
import { pageAtRest } from './parts/at-rest.ts';

/**
 * Parts of the console that are loaded when they are needed, or before that while the browser has nothing else to do. A
 * part that does not arrive is loaded again until it does: what is on the screen stays, and the bar above it says why.
 */
const ahead: (() => Promise<unknown>)[] = [];

/** Loads a module once. */
export function chunk<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  const loadOnce = (): Promise<Module> => (loading ??= persistently(load));
  ahead.push(loadOnce);
  return loadOnce;
}

/** A component of a module, for `Suspense`. */
// The properties of the component are those of its module, as in React's own type.
// oxlint-disable-next-line typescript/no-explicit-any
export function lazyPart<Name extends string, Part extends ComponentType<any>>(
  load: () => Promise<Record<Name, Part>>,
  name: Name,
): LazyExoticComponent<Part> {
  const loadOnce = chunk(load);
  return lazy(async () => ({ default: (await loadOnce())[name] }));
}

async function persistently<Module>(load: () => Promise<Module>): Promise<Module> {
  const file = Symbol('file');
  for (;;) {
    try {
      const loaded = await load();
      fileArrived(file);
      return loaded;
    } catch {
      await fileFailed(file);
    }
  }
}

let started = false;

/**
 * Loads all parts, one after the other, so that every page opens at once and also while the service is not reachable.
 * A part that has arrived may add others.
 */
export async function loadAhead(): Promise<void> {
  if (started) return;
  started = true;
  for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
    await pageAtRest();
    await next();
  }
}
