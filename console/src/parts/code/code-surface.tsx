import { json, jsonParseLinter } from '@codemirror/lang-json';
import { syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useComputedColorScheme } from '@mantine/core';
import { basicSetup } from 'codemirror';
import { useEffect, useRef, useState } from 'react';
import { styleNonce } from '../../document.ts';
import { darkCodeColours } from './code-colours.ts';

export interface CodeSurfaceProps {
  /** The label for screen readers. */
  label: string;
  value: string;
  onChange?: (value: string) => void;
  language: 'json' | 'expression';
  readOnly?: boolean;
  minHeight?: number;
  maxHeight?: number;
  /** Diagnostics, by zero-based offset. */
  marks?: readonly { from: number; to: number; message: string; severity: 'error' | 'warning' }[];
}

/** CodeMirror in the colors of the console. */
export function CodeSurface({
  label,
  value,
  onChange,
  language,
  readOnly = false,
  minHeight = 120,
  maxHeight = 480,
  marks,
}: CodeSurfaceProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const change = useRef(onChange);
  const [marked] = useState(() => new Compartment());
  const dark = useComputedColorScheme('light') === 'dark';
  useEffect(() => {
    change.current = onChange;
  }, [onChange]);

  useEffect(() => {
    if (holder.current === null) return;
    const editor = new EditorView({
      parent: holder.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          basicSetup,
          ...(styleNonce === undefined ? [] : [EditorView.cspNonce.of(styleNonce)]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorState.readOnly.of(readOnly),
          look(dark, minHeight, maxHeight),
          dark ? syntaxHighlighting(darkCodeColours) : [],
          ...languageOf(language),
          marked.of(markedWith(marks)),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
    // The editor owns the text after its creation; the effect below applies external changes.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [label, readOnly, dark, minHeight, maxHeight, language, marked]);

  useEffect(() => {
    view.current?.dispatch({ effects: marked.reconfigure(markedWith(marks)) });
  }, [marks, marked]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return <div ref={holder} />;
}

function languageOf(language: CodeSurfaceProps['language']): Extension[] {
  if (language === 'expression') return [];
  const parse = jsonParseLinter();
  // An empty document is valid here; required values are checked on save.
  return [
    json(),
    lintGutter(),
    linter((editor) => (editor.state.doc.length === 0 ? [] : parse(editor))),
  ];
}

/** The current marks. They change while the user types, so the editor is not recreated for them. */
function markedWith(marks: CodeSurfaceProps['marks']): Extension {
  return linter(
    (editor): Diagnostic[] =>
      (marks ?? []).map((mark) => ({
        ...mark,
        from: Math.min(mark.from, editor.state.doc.length),
        to: Math.min(mark.to, editor.state.doc.length),
      })),
    { delay: 0 },
  );
}

function look(dark: boolean, minHeight: number, maxHeight: number): Extension {
  return EditorView.theme(
    {
      '&': {
        fontSize: 'var(--mantine-font-size-xs)',
        border: '1px solid var(--mantine-color-default-border)',
        borderRadius: 'var(--mantine-radius-default)',
        backgroundColor: 'var(--mantine-color-body)',
        color: 'var(--mantine-color-text)',
      },
      '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)' },
      '.cm-scroller': {
        fontFamily: 'var(--mantine-font-family-monospace)',
        minHeight: `${minHeight}px`,
        maxHeight: `${maxHeight}px`,
        overflow: 'auto',
      },
      '.cm-gutters': {
        backgroundColor: 'transparent',
        color: 'var(--mantine-color-dimmed)',
        border: 'none',
      },
      '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
      '.cm-content': { caretColor: 'var(--mantine-color-text)' },
    },
    { dark },
  );
}
