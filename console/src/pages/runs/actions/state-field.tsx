import { Box, Skeleton, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { JsonObject, Run, Step } from '#client/index.ts';
import { fork as text } from '#console/src/messages/en/runs/actions.ts';
import { ChangedPaths, changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { changedFields } from '#console/src/parts/data/changed-fields.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { anObject, JsonField } from '#console/src/parts/forms/json-field.tsx';
import { useStateAt } from '#console/src/pages/runs/state-at.ts';

interface StateFieldProps {
  run: Run;
  step: Step;
  /** The keys of the state that differ, with their values; undefined if none does. */
  changed: JsonObject | undefined;
  onChange: (changed: JsonObject | undefined) => void;
  onBroken: (broken: boolean) => void;
}

/** The state at a step as JSON that can be edited, with a list of what has been changed. */
export function StateField(props: StateFieldProps) {
  const state = useStateAt(props.run, props.step.step_key);
  if (state === undefined) return <Skeleton h={160} />;
  return <Field {...props} state={state ?? {}} known={state !== null} />;
}

function Field({
  state,
  known,
  onChange,
  onBroken,
}: StateFieldProps & { state: JsonObject; known: boolean }) {
  const [edited, setEdited] = useState(state);
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
        description={known ? text.aboutState : text.unknownState}
        value={edited}
        judge={(value) => anObject(value ?? null) ?? removedFrom(state, value)}
        onBroken={onBroken}
        onChange={change}
        minHeight={120}
        maxHeight={240}
      />
      {changes.length > 0 && (
        <Box role="group" aria-label={text.stateChanges}>
          <Text size="sm" fw={600}>
            {text.stateChanges}
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
