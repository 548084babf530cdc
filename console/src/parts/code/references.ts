const INSERT = 'insert-reference';

/** What a dragged path of a value has, besides its text for any other field. */
export const PATH_TYPE = 'application/x-value-path';

/** Finds the editors that take references to values. */
export const TAKES_REFERENCES = '[data-references]';

/** Asks an editor to insert a reference to the value at a path, as its language writes it, and to take the focus. */
export const insertReference = (editor: Element, path: string): boolean =>
  editor.dispatchEvent(new CustomEvent(INSERT, { detail: path }));

/** Calls back with each path that the editor is asked to insert. */
export function onReference(editor: HTMLElement, insert: (path: string) => void): void {
  editor.addEventListener(INSERT, (event) => {
    if (event instanceof CustomEvent) insert(String(event.detail));
  });
}
