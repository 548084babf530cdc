import { Box, Button, Stack, Text } from '@mantine/core';
import type { Gate, JsonObject } from '#client/index.ts';
import { argumentsField as texts } from '#console/src/messages/en/gates.ts';
import { Message } from '#console/src/messages/message.tsx';
import { exactJson } from '#console/src/parts/code/exact-json.ts';
import { changedFields } from '#console/src/parts/data/changed-fields.ts';
import { ChangedValue } from '#console/src/parts/data/changed-value.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { SchemaForm } from './schema-form.tsx';

/** Edits the arguments of a tool call in a form for the tool's schema, and shows what differs from the call. */
export function ArgumentsField({
  given,
  tool,
  edited,
  onEdited,
  onBroken,
  refusal,
}: {
  /** The arguments as the model sent them. */
  given: JsonObject;
  /** Null if the tool is unknown: then the arguments are edited as JSON. */
  tool: Gate['tool'];
  /** Undefined until the approver edits them. */
  edited: JsonObject | undefined;
  onEdited: (edited: JsonObject | undefined) => void;
  onBroken: (broken: boolean) => void;
  refusal: string | undefined;
}) {
  if (edited === undefined) {
    return <TextButton onClick={() => onEdited({ ...given })}>{texts.edit}</TextButton>;
  }
  const fixed = new Set(tool?.fixed);
  const part = (of: JsonObject, isFixed: boolean): JsonObject =>
    Object.fromEntries(Object.entries(of).filter(([name]) => fixed.has(name) === isFixed));
  return (
    <Stack gap="xs">
      <SchemaForm
        schema={tool?.schema ?? {}}
        value={part(edited, false)}
        onChange={(next) => onEdited({ ...next, ...part(given, true) })}
        onBroken={onBroken}
        refusal={refusal?.replace(/^Invalid body: /, '')}
        name="arguments"
        label={texts.label}
      />
      {fixed.size > 0 && (
        <Text size="sm" c="dimmed">
          <Message text={texts.fixed} values={{ names: [...fixed].join(', ') }} />
        </Text>
      )}
      <Changes given={given} wanted={edited} />
      <TextButton
        onClick={() => {
          onBroken(false);
          onEdited(undefined);
        }}
      >
        {texts.discard}
      </TextButton>
    </Stack>
  );
}

const TextButton = (props: { onClick: () => void; children: string }) => (
  <Button variant="subtle" size="compact-sm" w="fit-content" {...props} />
);

function Changes({ given, wanted }: { given: JsonObject; wanted: JsonObject }) {
  const changes = changedFields(given, wanted);
  if (changes.length === 0) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {texts.unchanged}
      </Text>
    );
  }
  return (
    <Box role="status" aria-label={texts.changes}>
      {changes.map(({ name, before, after }) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <strong>
            <UserText>{name}</UserText>
          </strong>
          : <ChangedValue before={<Value of={before} />} after={<Value of={after} />} />
        </Text>
      ))}
    </Box>
  );
}

/** Longer values are truncated here; the editor above shows them in full. */
const SHOWN_CHARACTERS = 300;

function Value({ of: value }: { of: unknown }) {
  if (value === undefined) return <i>{texts.none}</i>;
  const text = exactJson(value);
  return (
    <UserText>
      {text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}
    </UserText>
  );
}
