import { syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { styleNonce } from '#console/src/document.ts';
import { darkCodeColours } from './code-colours.ts';
import { codeLook } from './code-look.ts';
import { type Completable, completion } from './completion.ts';
import { type CodeLanguage, languageOf } from './languages.ts';
import { onReference, PATH_TYPE } from './references.ts';

export interface CodeSurfaceProps {
  /** The label for screen readers. */
  label: string;
  value: string;
  onChange?: (value: string) => void;
  language: CodeLanguage;
  readOnly?: boolean;
  minHeight?: number;
  maxHeight?: number;
  /** Diagnostics, by zero-based offset. */
  marks?: readonly { from: number; to: number; message: string; severity: 'error' | 'warning' }[];
  /** The ids of the texts that describe the field. */
  describedBy?: string | undefined;
  invalid?: boolean;
  /** The names that are offered while the member types; none by default. */
  completable?: Completable | undefined;
  /** Whether references to values can be inserted and dragged here. */
  references?: boolean;
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
  describedBy,
  invalid = false,
  completable,
  references = false,
}: CodeSurfaceProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const change = useRef(onChange);
  const known = useRef(completable);
  const [marked] = useState(() => new Compartment());
  const [described] = useState(() => new Compartment());
  const dark = useComputedColorScheme('light') === 'dark';
  useEffect(() => {
    change.current = onChange;
    known.current = completable;
  }, [onChange, completable]);

  useEffect(() => {
    if (holder.current === null) return;
    const editor = new EditorView({
      parent: holder.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          fixedParts({ label, language, readOnly, dark, minHeight, maxHeight }),
          readOnly ? [] : completion(language, () => known.current),
          references ? takesReferences(language) : [],
          described.of(describedAs(describedBy, invalid)),
          marked.of(markedWith(marks)),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    onReference(editor.contentDOM, (path) => {
      const written = referenceIn(language, path);
      editor.dispatch(editor.state.replaceSelection(written), { userEvent: 'input.paste' });
      editor.focus();
    });
    return () => editor.destroy();
    // The editor owns the text after its creation; the effect below applies external changes.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [label, readOnly, dark, minHeight, maxHeight, language, references, marked, described]);

  useEffect(() => {
    view.current?.dispatch({
      effects: [
        marked.reconfigure(markedWith(marks)),
        described.reconfigure(describedAs(describedBy, invalid)),
      ],
    });
  }, [marks, marked, describedBy, invalid, described]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return <div ref={holder} style={{ marginBlock: 4 }} />;
}

/** Settings that do not change while the editor exists. */
const fixedParts = ({
  label,
  language,
  readOnly,
  ...sizes
}: Required<
  Pick<CodeSurfaceProps, 'label' | 'language' | 'readOnly' | 'minHeight' | 'maxHeight'>
> & {
  dark: boolean;
}): Extension => [
  ...languageOf(language),
  ...(styleNonce === undefined ? [] : [EditorView.cspNonce.of(styleNonce)]),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': label }),
  EditorState.readOnly.of(readOnly),
  codeLook(language, sizes),
  sizes.dark ? syntaxHighlighting(darkCodeColours) : [],
];

/** A reference as the language writes it: in braces, except in expressions. */
const referenceIn = (language: CodeLanguage, path: string): string =>
  language === 'expression' ? path : `{${path}}`;

/** Values can be inserted here, and dragged here. The browser inserts a dragged text as it is. */
const takesReferences = (language: CodeLanguage): Extension => [
  EditorView.contentAttributes.of({ 'data-references': '' }),
  EditorView.domEventHandlers({
    drop: (event, view) => {
      const path = event.dataTransfer?.getData(PATH_TYPE) ?? '';
      if (path === '') return false;
      event.preventDefault();
      const at = view.posAtCoords({ x: event.clientX, y: event.clientY }) ?? view.state.doc.length;
      const insert = referenceIn(language, path);
      view.dispatch({ changes: { from: at, insert }, selection: { anchor: at + insert.length } });
      view.focus();
      return true;
    },
  }),
];

const describedAs = (ids: string | undefined, invalid: boolean): Extension =>
  EditorView.contentAttributes.of({
    ...(ids !== undefined && { 'aria-describedby': ids }),
    ...(invalid && { 'aria-invalid': 'true' }),
  });

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
