import { Box, Text } from '@mantine/core';
import { useMemo } from 'react';
import { changedPaths as texts } from '#console/src/messages/en/parts/data.ts';
import { exactJson, exactText } from '#console/src/parts/code/exact-json.ts';
import { ChangedText } from '#console/src/parts/text/changed-text.tsx';
import { changedExcerpts } from '#console/src/parts/text/word-changes.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { differencesOf, type JsonDifference } from '#shared/graph/json-differences.ts';
import type { Json } from '#shared/json.ts';
import { ChangedValue } from './changed-value.tsx';

/** More differences are only counted. */
const SHOWN = 20;
/** More are not even counted. */
const MOST = 1_000;
/** Longer texts, and texts with several lines, are compared word by word. */
const LINE_CHARACTERS = 80;
/** The maximum number of displayed characters of a value. */
const VALUE_CHARACTERS = 300;

/** Where two values differ, up to a limit. */
export function changesOf(before: unknown, after: unknown): JsonDifference[] {
  const found: JsonDifference[] = [];
  for (const difference of differencesOf(before as Json, after as Json)) {
    if (found.push(difference) === MOST) break;
  }
  return found;
}

/** Differences of two values: each with its path, what was and what is. */
export function ChangedPaths({
  changes,
  most = SHOWN,
}: {
  changes: readonly JsonDifference[];
  most?: number;
}) {
  return (
    <>
      {changes.slice(0, most).map((change) => (
        <ChangedPath key={change.path} {...change} />
      ))}
      {changes.length > most && (
        <Text size="sm" c="dimmed">
          {texts.more(changes.length - most)}
        </Text>
      )}
    </>
  );
}

function ChangedPath({ path, from, to }: JsonDifference) {
  const excerpts = useMemo(
    () => (isLong(from) && isLong(to) ? changedExcerpts(from, to, VALUE_CHARACTERS) : undefined),
    [from, to],
  );
  return (
    <Box fz="sm" style={{ overflowWrap: 'anywhere' }}>
      {path !== '' && (
        <>
          <strong>
            <UserText>{exactText(path)}</UserText>
          </strong>
          {': '}
        </>
      )}
      {excerpts === undefined ? (
        <ChangedValue before={<Value of={from} />} after={<Value of={to} />} />
      ) : (
        <ChangedText before={exactText(excerpts.before)} after={exactText(excerpts.after)} />
      )}
    </Box>
  );
}

const isLong = (value: unknown): value is string =>
  typeof value === 'string' && (value.length > LINE_CHARACTERS || value.includes('\n'));

function Value({ of: value }: { of: unknown }) {
  if (value === undefined) return <i>{texts.none}</i>;
  const text = exactJson(value);
  return (
    <UserText>
      {text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS)}…` : text}
    </UserText>
  );
}
