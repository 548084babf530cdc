import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { CodeLanguage } from './languages.ts';

/** The console's colors and sizes for CodeMirror. */
export const codeLook = (
  language: CodeLanguage,
  { dark, minHeight, maxHeight }: { dark: boolean; minHeight: number; maxHeight: number },
): Extension => [
  EditorView.theme(
    { '.cm-scroller': { minHeight: `${minHeight}px`, maxHeight: `${maxHeight}px` } },
    { dark },
  ),
  // The first one wins.
  language === 'template' ? prose : [],
  surface,
  offers,
];

const surface = EditorView.theme({
  '&': {
    fontSize: 'var(--mantine-font-size-xs)',
    border: 'var(--border)',
    borderRadius: 'var(--mantine-radius-default)',
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
  },
  '&.cm-focused': { outline: 'var(--focus-ring)' },
  '.cm-scroller': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    overflow: 'auto',
  },
  '.cm-gutters': {
    backgroundColor: 'transparent',
    color: 'var(--mantine-color-dimmed)',
    border: 'none',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-reference': { color: 'var(--mantine-color-anchor)', fontWeight: 500 },
});

/** The list of names. */
const offers = EditorView.theme({
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: 'var(--border)',
    borderRadius: 'var(--mantine-radius-default)',
    boxShadow: 'var(--mantine-shadow-md)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mantine-font-family)',
    fontSize: 'var(--mantine-font-size-xs)',
    maxHeight: '260px',
    maxWidth: 'min(440px, 90vw)',
    minWidth: '240px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    gap: '12px',
    justifyContent: 'space-between',
    padding: '4px 8px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--mantine-primary-color-light)',
    color: 'var(--mantine-color-text)',
  },
  '.cm-completionLabel': { fontFamily: 'var(--mantine-font-family-monospace)' },
  '.cm-completionDetail': {
    color: 'var(--mantine-color-dimmed)',
    fontStyle: 'normal',
    marginLeft: 0,
    overflow: 'hidden',
    textOverflow: 'ellipsis',
  },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
});

/** Prose looks like the text of other fields. */
const prose: Extension = EditorView.theme({
  '&': { fontSize: 'var(--mantine-font-size-sm)' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family)', lineHeight: '1.5' },
  '.cm-line': { unicodeBidi: 'plaintext', padding: '0 10px' },
});
