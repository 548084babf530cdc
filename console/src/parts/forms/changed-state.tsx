import { Box, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { JsonObject } from '#client/index.ts';
import { changedState as text } from '#console/src/messages/en/parts/fields.ts';
import { changedFields } from '#console/src/parts/data/changed-fields.ts';
import { ChangedPaths, changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { isRecord } from '#console/src/parts/data/record.ts';
import { anObject, JsonField } from './json-field.tsx';

/** A state as JSON that can be edited, with a list of what has been changed. */
export function ChangedState({
  state,
  changed,
  description,
  onChange,
  onBroken,
}: {
  state: JsonObject;
  /** The keys that differ at first, with their values. */
  changed?: JsonObject | undefined;
  description: string;
  /** Called with the keys that differ; undefined if none does. */
  onChange: (changed: JsonObject | undefined) => void;
  onBroken?: (broken: boolean) => void;
}) {
  const [edited, setEdited] = useState<JsonObject>({ ...state, ...changed });
  const changes = useMemo(() => changesOf(state, edited), [state, edited]);
  const change = (value: unknown): void => {
    const next = isRecord(value) ? (value as JsonObject) : {};
    setEdited(next);
    const fields = changedFields(state, next).map(({ name }) => [name, next[name]]);
    onChange(fields.length === 0 ? undefined : (Object.fromEntries(fields) as JsonObject));
  };
  return (
    <>
      <JsonField
        label={text.state}
        description={description}
        value={edited}
        judge={(value) => anObject(value ?? null) ?? removedFrom(state, value)}
        {...(onBroken && { onBroken })}
        onChange={change}
        minHeight={120}
        maxHeight={240}
      />
      {changes.length > 0 && (
        <Box role="group" aria-label={text.changes}>
          <Text size="sm" fw={600}>
            {text.changes}
          </Text>
          <ChangedPaths changes={changes} />
        </Box>
      )}
    </>
  );
}

/** The service merges the changes into the state, so no key can be removed. */
function removedFrom(state: JsonObject, value: unknown): string | undefined {
  const removed = Object.keys(state).find((key) => isRecord(value) && !Object.hasOwn(value, key));
  return removed === undefined ? undefined : text.noRemoval(removed);
}
