import { Textarea, TextInput } from '@mantine/core';
import { words } from '#console/src/messages/en/words.ts';

/** The name and description of a workflow or template. */
export function NameFields({
  name,
  onName,
  description,
  onDescription,
  first = false,
  maxRows = 8,
}: {
  name: string;
  onName: (name: string) => void;
  description: string;
  onDescription: (description: string) => void;
  /** Whether a dialog opens with the focus on the name. */
  first?: boolean;
  maxRows?: number;
}) {
  return (
    <>
      <TextInput
        label={words.name}
        required
        maxLength={200}
        data-autofocus={first || undefined}
        value={name}
        onChange={(event) => onName(event.currentTarget.value)}
      />
      <Textarea
        label={words.description}
        autosize
        minRows={2}
        maxRows={maxRows}
        maxLength={10_000}
        value={description}
        onChange={(event) => onDescription(event.currentTarget.value)}
      />
    </>
  );
}
