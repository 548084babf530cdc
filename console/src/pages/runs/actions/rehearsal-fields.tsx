import { Checkbox, Switch, TagsInput } from '@mantine/core';
import { toolsAllowedByName } from '#shared/tools.ts';
import { rehearsalFields as text } from '#console/src/messages/en/runs/actions.ts';

/** How a rehearsal executes steps that have no recorded result. */
export interface RehearsalGiven {
  allow: string[];
  execute: boolean;
  pins: boolean;
}

export const nothingAllowed: RehearsalGiven = { allow: [], execute: false, pins: false };

export const rehearsalOptions = (rehearsal: RehearsalGiven | undefined) =>
  rehearsal === undefined
    ? {}
    : {
        mode: 'recorded' as const,
        allow: rehearsal.allow,
        ...(rehearsal.execute ? { failures: 'execute' as const } : {}),
        ...(rehearsal.pins ? { pins: true } : {}),
      };

const suggestions = [
  'agent',
  'workflow',
  'http_request:GET',
  'http_request:POST',
  ...toolsAllowedByName,
];

/** What a rehearsal can execute, and whether failures are repeated. */
export function RehearsalFields({
  value,
  onChange,
}: {
  value: RehearsalGiven;
  onChange: (value: RehearsalGiven) => void;
}) {
  return (
    <>
      <TagsInput
        label={text.allow}
        description={text.aboutAllow}
        data={suggestions}
        value={value.allow}
        clearable
        onChange={(allow) => onChange({ ...value, allow })}
      />
      <Checkbox
        label={text.execute}
        description={text.aboutExecute}
        checked={value.execute}
        onChange={({ currentTarget: { checked } }) => onChange({ ...value, execute: checked })}
      />
      <Checkbox
        label={text.pins}
        description={text.aboutPins}
        checked={value.pins}
        onChange={({ currentTarget: { checked } }) => onChange({ ...value, pins: checked })}
      />
    </>
  );
}

/** Whether it is a rehearsal, and what it can execute. */
export function RehearsalSwitch({
  value,
  onChange,
}: {
  value: RehearsalGiven | undefined;
  onChange: (value: RehearsalGiven | undefined) => void;
}) {
  return (
    <>
      <Switch
        label={text.rehearse}
        description={text.aboutRehearse}
        checked={value !== undefined}
        onChange={({ currentTarget: { checked } }) =>
          onChange(checked ? nothingAllowed : undefined)
        }
      />
      {value !== undefined && <RehearsalFields value={value} onChange={onChange} />}
    </>
  );
}
