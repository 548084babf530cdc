import { Button } from '@mantine/core';
import { useState } from 'react';
import { effect as text } from '#console/src/messages/en/consequences.ts';
import { exactJson, exactText } from '#console/src/parts/code/exact-json.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { ChangedValue } from '#console/src/parts/data/changed-value.tsx';
import { ChangedText } from '#console/src/parts/text/changed-text.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import type { ArgumentRow } from './argument-rows.ts';
import type { ComparedRow } from './compared.ts';

/** More rows are only rendered on request. Rows that are marked are always rendered. */
const FIRST_ROWS = 12;
/** Longer texts, and texts with several lines, have a frame of their own. */
const LINE_CHARACTERS = 160;

/** The arguments of an effect, value by value. What is not known yet, and what has changed, is marked. */
export function ArgumentsTable({ rows, label }: { rows: readonly ComparedRow[]; label: string }) {
  const [whole, setWhole] = useState(false);
  if (rows.length === 0) return null;
  const shown = whole ? rows : rows.filter((row, at) => at < FIRST_ROWS || isMarked(row));
  return (
    <>
      <table className="arguments" aria-label={text.argumentsOf(label)}>
        <tbody>
          {shown.map((row) => (
            <tr key={row.path} className="argument" data-removed={row.removed}>
              <th scope="row">
                <UserText>{exactText(row.path)}</UserText>
              </th>
              <td>
                <RowValue row={row} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <Button size="compact-xs" variant="subtle" onClick={() => setWhole(true)}>
          {text.showAll(countText(rows.length))}
        </Button>
      )}
    </>
  );
}

const isMarked = ({ before, removed, reads }: ComparedRow): boolean =>
  before !== undefined || removed === true || reads !== undefined;

function RowValue({ row }: { row: ComparedRow }) {
  const { before } = row;
  if (before === undefined) return <Value row={row} />;
  const areTexts = before !== null && !row.reads && !before.reads;
  if (areTexts && isLong(before.value) && typeof row.value === 'string') {
    return <ChangedText before={exactText(before.value)} after={exactText(row.value)} />;
  }
  return (
    <ChangedValue
      before={before === null ? <i>{text.none}</i> : <Value row={before} inline />}
      after={<Value row={row} inline />}
    />
  );
}

/** The value of an argument as it is, or what it is before it is known. */
export function Value({
  row: { path, value, reads },
  inline = false,
}: {
  row: ArgumentRow;
  inline?: boolean;
}) {
  if (reads !== undefined) {
    return (
      <span className="argument-unknown">
        {reads.length === 0 ? text.notKnown : text.notKnownReads(reads.join(', '))}
      </span>
    );
  }
  if (!inline && isLong(value)) return <JsonView value={exactText(value)} what={path} />;
  return <UserText>{cut(exactJson(value))}</UserText>;
}

const isLong = (value: unknown): value is string =>
  typeof value === 'string' && (value.length > LINE_CHARACTERS || value.includes('\n'));

const cut = (value: string): string =>
  value.length > 2 * LINE_CHARACTERS ? `${value.slice(0, 2 * LINE_CHARACTERS)}…` : value;
