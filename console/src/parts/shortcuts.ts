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
