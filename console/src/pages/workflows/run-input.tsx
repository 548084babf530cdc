import { Text } from '@mantine/core';
import { useMemo } from 'react';
import type { JsonObject, Workflow } from '../../../../client/index.ts';
import { JsonField } from '../../parts/forms/json-field.tsx';
import { isRecord } from '../../parts/data/record.ts';
import { useChecker } from './mistakes/use-mistakes.ts';

/** An empty input with the keys that the graph reads and no node sets. */
export function useSuggestedInput({ graph }: Pick<Workflow, 'graph'>): JsonObject {
  const checker = useChecker();
  return useMemo(
    () => Object.fromEntries((checker?.inputKeys(graph) ?? []).map((key) => [key, ''])),
    [checker, graph],
  );
}

/** The input of a run, as JSON. */
export function RunInput({
  label,
  value,
  suggested,
  onChange,
  onBroken,
}: {
  label: string;
  value: JsonObject;
  suggested: JsonObject;
  onChange: (value: JsonObject) => void;
  onBroken: (broken: boolean) => void;
}) {
  return (
    <>
      <JsonField
        label={label}
        description="A JSON object. Prompts and expressions can use its keys."
        value={value}
        judge={anInput}
        onBroken={onBroken}
        onChange={(next) => onChange(isRecord(next) ? next : {})}
        minHeight={140}
      />
      <Text size="sm" c="dimmed">
        {Object.keys(suggested).length === 0
          ? 'This workflow expects no inputs.'
          : `Inputs this workflow expects: ${Object.keys(suggested).join(', ')}`}
      </Text>
    </>
  );
}

const anInput = (value: unknown): string | undefined =>
  isRecord(value) ? undefined : 'Enter a JSON object, like {}';
