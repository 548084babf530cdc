import { ActionIcon, Tooltip } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { memo } from 'react';
import { argumentsField as texts } from '#console/src/messages/en/gates.ts';
import { exactText } from '#console/src/parts/code/exact-json.ts';
import { Value } from '#console/src/parts/consequences/arguments-table.tsx';
import { ChangedPaths, changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Field } from './schema-form.tsx';
import { fieldAt } from './schema-fields.ts';

export type ArgumentPath = readonly (string | number)[];

/** Longer texts are not selected when their field opens. */
const SELECTED_CHARACTERS = 160;

export interface ArgumentRowProps {
  /** Like `body.items[0]`. */
  name: string;
  at: ArgumentPath;
  /** The value of the call, and the one to send instead. */
  given: unknown;
  value: unknown;
  /** The schema of the tool. */
  schema: unknown;
  /** `opened`: by its own button, so that the focus follows. */
  state: 'fixed' | 'shown' | 'field' | 'opened';
  /** Undefined for a reader who cannot edit it. */
  onOpen: ((name: string) => void) | undefined;
  onChange: (at: ArgumentPath, value: unknown) => void;
  onBroken: (broken: boolean) => void;
  refusal: string | undefined;
}

/** One argument of a call: its value, or a field for it, and what it was. Rendered again only if it changes itself. */
export const ArgumentRow = memo(function ArgumentRow(props: ArgumentRowProps) {
  const { name, given, value, state } = props;
  const changes = given === value ? [] : changesOf(given, value);
  return (
    <tr className="argument" data-changed={changes.length > 0 || undefined}>
      <th scope="row">
        <UserText>{exactText(name)}</UserText>
      </th>
      <td>
        {state === 'field' || state === 'opened' ? (
          <ArgumentInput {...props} />
        ) : (
          <div className="argument-value">
            {changes.length > 0 ? (
              <ChangedPaths changes={changes} />
            ) : (
              <Value row={{ path: name, value }} />
            )}
            <Tail {...props} />
          </div>
        )}
      </td>
    </tr>
  );
});

function Tail({ name, state, onOpen }: ArgumentRowProps) {
  if (state === 'fixed') return <span className="argument-note">{texts.fixed}</span>;
  if (onOpen === undefined) return null;
  return (
    <Tooltip label={texts.editOne(name)}>
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label={texts.editOne(name)}
        onClick={() => onOpen(name)}
      >
        <IconPencil size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

function ArgumentInput({
  name,
  at,
  given,
  value,
  schema,
  state,
  onChange,
  onBroken,
  refusal,
}: ArgumentRowProps) {
  const focus = (place: HTMLElement | null): void => {
    if (state !== 'opened' || place?.contains(document.activeElement)) return;
    const field = place?.querySelector<HTMLInputElement>('input, textarea, select');
    field?.focus();
    if (field && field.value.length <= SELECTED_CHARACTERS && 'select' in field) field.select();
  };
  const isChanged = value !== given;
  return (
    <div ref={focus}>
      <Field
        named={name}
        field={fieldAt(schema, at, value ?? given)}
        value={value}
        onChange={(next) => onChange(at, next)}
        path={['arguments', ...at.map(String)]}
        {...{ onBroken, refusal }}
      />
      {isChanged && (
        <div className="argument-note">
          {texts.was}{' '}
          {given === undefined ? (
            <i>{texts.none}</i>
          ) : (
            <Value row={{ path: name, value: given }} inline />
          )}
        </div>
      )}
    </div>
  );
}
