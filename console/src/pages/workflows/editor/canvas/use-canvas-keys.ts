import { type RefObject, useEffect } from 'react';
import { useShortcuts } from '#console/src/parts/shortcuts.ts';
import {
  clipboardNodes,
  clipboardText,
} from '#console/src/pages/workflows/editor/copying/copies.ts';
import type { CanvasActions } from './use-canvas-actions.ts';

/**
 * The keys of the drawing: `/` opens the palette and `t` tests the selected node; Ctrl+C, X, V, D and A (Cmd on a Mac) act on the selection while the
 * focus is in the drawing, or nowhere. Copied nodes are in the clipboard as JSON, so that they can be pasted in another
 * tab.
 */
export function useCanvasKeys(
  drawing: RefObject<HTMLElement | null>,
  actions: CanvasActions,
  { openPalette, test }: { openPalette: () => void; test: () => void },
): void {
  useShortcuts({ '/': openPalette, t: test });
  useEffect(() => {
    const isHere = ({ target }: Event): boolean =>
      target instanceof Element &&
      target.closest('input, textarea, [contenteditable="true"], [role="dialog"]') === null &&
      (target === document.body || drawing.current?.contains(target) === true);
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      const act = { d: actions.duplicate, a: actions.selectAll }[event.key.toLowerCase()];
      if (act === undefined || !isHere(event)) return;
      event.preventDefault();
      act();
    };
    const onCopy = (event: ClipboardEvent): void => {
      // Selected text is copied as usual.
      if (!isHere(event) || document.getSelection()?.isCollapsed === false) return;
      const copied = actions.copy();
      if (copied === undefined) return;
      event.preventDefault();
      event.clipboardData?.setData('text/plain', clipboardText(copied));
      if (event.type === 'cut') actions.remove();
    };
    const onPaste = (event: ClipboardEvent): void => {
      if (!isHere(event)) return;
      event.preventDefault();
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text === '') actions.paste(undefined);
      else {
        const nodes = clipboardNodes(text);
        if (nodes !== undefined) actions.paste(nodes);
      }
    };
    window.addEventListener('keydown', onKey);
    document.addEventListener('copy', onCopy);
    document.addEventListener('cut', onCopy);
    document.addEventListener('paste', onPaste);
    return () => {
      window.removeEventListener('keydown', onKey);
      document.removeEventListener('copy', onCopy);
      document.removeEventListener('cut', onCopy);
      document.removeEventListener('paste', onPaste);
    };
  }, [drawing, actions]);
}
