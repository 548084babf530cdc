import { Box, Button, Stack, Text } from '@mantine/core';
import type { JsonObject } from '../../../../client/index.ts';
import { CodeEditor } from '../code/code-editor.tsx';
import { exactJson } from '../code/exact-json.ts';
import { changedFields } from '../data/changed-fields.ts';
import { ChangedValue } from '../data/changed-value.tsx';
import { UserText } from '../text/user-text.tsx';
import { readObject } from './read-object.ts';

/** Edits the arguments of a tool call as JSON, and shows what the text changes. */
export function ArgumentsField({
  given,
  text,
  onText,
  error,
}: {
  /** As the model gave them. */
  given: JsonObject;
  /** Undefined until the approver edits them. */
  text: string | undefined;
  onText: (text: string | undefined) => void;
  error: string | undefined;
}) {
  if (text === undefined) {
    return (
      <Button
        variant="subtle"
        size="compact-sm"
        w="fit-content"
        onClick={() => onText(exactJson(given))}
      >
        Edit arguments
      </Button>
    );
  }
  const read = readObject(text);
  return (
    <Stack gap="xs">
      <CodeEditor
        label="Arguments to send"
        description="A JSON object. The tool is called with it, and your changes are recorded."
        language="json"
        minHeight={80}
        maxHeight={320}
        value={text}
        onChange={onText}
        error={'mistake' in read ? read.mistake : error}
      />
      {'value' in read && <Changes given={given} wanted={read.value} />}
      <Button variant="subtle" size="compact-sm" w="fit-content" onClick={() => onText(undefined)}>
        Discard changes
      </Button>
    </Stack>
  );
}

function Changes({ given, wanted }: { given: JsonObject; wanted: JsonObject }) {
  const changes = changedFields(given, wanted);
  if (changes.length === 0) {
    return (
      <Text size="sm" c="dimmed" role="status">
        No changes yet
      </Text>
    );
  }
  return (
    <Box role="status" aria-label="Changes">
      {changes.map(({ name, before, after }) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <b>
            <UserText>{name}</UserText>
          </b>
          : <ChangedValue before={<Value of={before} />} after={<Value of={after} />} />
        </Text>
      ))}
    </Box>
  );
}

/** Longer values are cut here; the editor above has them in full. */
const SHOWN_CHARACTERS = 300;

function Value({ of: value }: { of: unknown }) {
  if (value === undefined) return <i>none</i>;
  const text = exactJson(value);
  return (
    <UserText>
      {text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}
    </UserText>
  );
}
