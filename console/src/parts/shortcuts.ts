import { useLocalStorage } from '@mantine/hooks';
import { useEffect, useRef } from 'react';

/** Where a single key is text or a choice of its own. */
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
 * Single keys as shortcuts. They are inert while somebody types, chooses or answers a dialog, and for who turned them
 * off: to people who dictate, a stray word would be a series of acts.
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

/** Whether this browser's owner wants shortcuts, and how to say so. */
export const useShortcutsOn = () =>
  useLocalStorage({
    key: 'workflows.shortcuts',
    defaultValue: true,
    getInitialValueInEffect: false,
  });

const isBusy = (target: EventTarget | null): boolean =>
  (target instanceof Element && target.closest(busy) !== null) ||
  document.querySelector('[aria-modal="true"]') !== null;
