import { Autocomplete, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Workflow } from '#client/index.ts';
import { workflowVersions as texts } from '#console/src/messages/en/workflows/node-fields.ts';
import { NumberField } from '#console/src/parts/forms/number-field.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { workflowReferences } from './agent-tools.ts';

interface Common {
  label: string;
  description: string | undefined;
  error: string | undefined;
}

const none: readonly Workflow[] = [];

/**
 * The workflow that a node runs: one of the workspace's by name, or by id if several have the name, or any text, since
 * the workflow can be created later.
 */
export function WorkflowInput({
  common,
  value,
  onText,
}: {
  common: Common;
  value: string;
  onText: (text: string) => void;
}) {
  const workflows = useQuery(workflowsQuery).data ?? none;
  const choices = useMemo(() => choicesOf(workflows), [workflows]);
  return (
    <Autocomplete
      {...common}
      data={[...choices.keys()]}
      value={value}
      onChange={onText}
      limit={50}
      renderOption={({ option }) => (
        <span>
          {option.value}
          {choices.get(option.value) !== undefined && (
            <Dimmed size="xs">{choices.get(option.value)}</Dimmed>
          )}
        </span>
      )}
    />
  );
}

/** What a node can refer to, with a note if it is an id. */
function choicesOf(workflows: readonly Workflow[]): ReadonlyMap<string, string | undefined> {
  const references = workflowReferences(workflows);
  return new Map(
    workflows.map(({ name }, at) => {
      const reference = references[at] ?? name;
      return [reference, reference === name ? undefined : name];
    }),
  );
}

/** The version of that workflow: one of its versions, or any number if the workflow is unknown. */
export function VersionInput({
  common,
  workflow,
  value,
  onChange,
}: {
  common: Common;
  workflow: unknown;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const workflows = useQuery(workflowsQuery).data ?? none;
  const named = workflows.filter(({ id, name }) => id === workflow || name === workflow);
  const chosen = named.length === 1 ? named[0] : named.find(({ id }) => id === workflow);
  const known = value === undefined || typeof value === 'number';
  if (chosen === undefined || !known || (value ?? 0) > chosen.version) {
    return (
      <NumberField {...common} value={value} min={1} allowDecimal={false} onChange={onChange} />
    );
  }
  const versions = Array.from({ length: chosen.version }, (_, at) => chosen.version - at);
  return (
    <Select
      {...common}
      placeholder={texts.current}
      clearable
      searchable
      limit={50}
      data={versions.map((version) => ({
        value: String(version),
        label: version === chosen.version ? texts.isCurrent(String(version)) : String(version),
      }))}
      value={value === undefined ? null : String(value)}
      onChange={(version) => onChange(version === null ? undefined : Number(version))}
    />
  );
}
