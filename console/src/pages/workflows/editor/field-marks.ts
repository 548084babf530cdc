/** A removed member is shown by their id. */
export interface FieldMark {
  message: string;
  /** Offset in the field's text. */
  position: number | undefined;
  /** The path within the field, like `[0].approval`. */
  within?: string;
  severity: 'error' | 'warning';
}

/** The messages as one text; undefined without marks. */
export const marksText = (marks: readonly FieldMark[] = []): string | undefined =>
  marks.length === 0 ? undefined : marks.map(({ message }) => message).join('. ');
