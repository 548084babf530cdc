import { useEffect } from 'react';
import type { DraftAction } from './draft.ts';

/** Ctrl+Z, Ctrl+Shift+Z or Ctrl+Y, and Ctrl+S; with Cmd on a Mac. Code editors have their own undo. */
export function useUndoKeys(change: (action: DraftAction) => void, save: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key === 's') {
        event.preventDefault();
        return save();
      }
      const inCode = event.target instanceof Element && event.target.closest('.cm-editor') !== null;
      if (inCode || (key !== 'z' && key !== 'y')) return;
      event.preventDefault();
      change({ type: key === 'y' || event.shiftKey ? 'redo' : 'undo' });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [change, save]);
}
