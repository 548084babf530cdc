import { useLocalStorage } from '@mantine/hooks';
import { useEffect, useRef } from 'react';

/** Elements in which a single key is text or a choice. */
const busy = [
  'input',
  'textarea',
  'select',
  '[contenteditable="true"]',
  '[role="menu"]',
  '[role="listbox"]',
  '[role="dialog"]',
].join(',');

/**
 * Single keys as shortcuts. They are off while the user types, selects or is in a dialog, and can be turned off: with
 * dictation, a stray word would trigger a series of actions.
 */
export function useShortcuts(keys: Readonly<Record<string, () => void>>): void {
  const [on] = useShortcutsOn();
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent): void => {
      const action = current.current[event.key];
      if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.defaultPrevented || event.isComposing || isBusy(event.target)) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [on]);
}

/** How long after the first key the second one counts. */
const SEQUENCE_MS = 1_500;

/**
 * Two keys in sequence as shortcuts, such as `g` and `r`. They are off when single keys are. The second key does not
 * also count as a shortcut of the page.
 */
export function useSequences(first: string, keys: Readonly<Record<string, () => void>>): void {
  const [on] = useShortcutsOn();
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    if (!on) return;
    let since = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent): void => {
      const action = current.current[event.key];
      const second = event.timeStamp - since < SEQUENCE_MS;
      since = Number.NEGATIVE_INFINITY;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.defaultPrevented || event.isComposing || isBusy(event.target)) return;
      if (second && action !== undefined) {
        event.preventDefault();
        action();
      } else if (event.key === first) since = event.timeStamp;
    };
    // Before the shortcuts of the page.
    document.addEventListener('keydown', press, { capture: true });
    return () => document.removeEventListener('keydown', press, { capture: true });
  }, [first, on]);
}

/** Whether shortcuts are on in this browser, and the setter. */
export const useShortcutsOn = () =>
  useLocalStorage({
    key: 'workflows.shortcuts',
    defaultValue: true,
    getInitialValueInEffect: false,
  });

const isBusy = (target: EventTarget | null): boolean =>
  (target instanceof Element && target.closest(busy) !== null) ||
  document.querySelector('[aria-modal="true"]') !== null;
