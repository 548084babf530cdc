import { javascript } from '@codemirror/lang-javascript';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { linter, lintGutter } from '@codemirror/lint';
import type { Extension } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { basicSetup, minimalSetup } from 'codemirror';

export type CodeLanguage = 'json' | 'javascript' | 'typescript' | 'expression' | 'template';

/** How text in the language is edited. JSON and code have line numbers; the others are a few lines. */
export function languageOf(language: CodeLanguage): Extension[] {
  switch (language) {
    case 'json':
      return jsonLanguage();
    case 'javascript':
    case 'typescript':
      return [basicSetup, javascript({ typescript: language === 'typescript' }), lintGutter()];
    case 'expression':
      return [minimalSetup];
    case 'template':
      return [
        minimalSetup,
        references,
        // Each line has the direction of its own text.
        EditorView.perLineTextDirection.of(true),
        EditorView.contentAttributes.of({ spellcheck: 'true' }),
      ];
  }
}

function jsonLanguage(): Extension[] {
  const parse = jsonParseLinter();
  // An empty document is valid here; required values are checked on save.
  return [
    basicSetup,
    json(),
    lintGutter(),
    linter((editor) => (editor.state.doc.length === 0 ? [] : parse(editor))),
  ];
}

const matcher = new MatchDecorator({
  regexp: /(?<!\{)\{[\p{L}_$][^\s{}]*\}/gu,
  decoration: Decoration.mark({ class: 'cm-reference' }),
});

/** Highlights the references in a template. */
const references = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = matcher.createDeco(view);
    }
    update(update: ViewUpdate): void {
      this.decorations = matcher.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
