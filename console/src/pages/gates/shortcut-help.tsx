import { Group, Kbd, Switch, Text } from '@mantine/core';
import { inbox as text } from '#console/src/messages/en/approvals.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useShortcutsOn } from '#console/src/parts/shortcuts.ts';

/** The keyboard shortcuts, and a switch to disable them. */
export function ShortcutHelp() {
  const [on, setOn] = useShortcutsOn();
  return (
    <Group gap="sm">
      {on && (
        <Text size="xs" c="dimmed">
          <Message
            text={text.keys}
            values={{
              next: key('j'),
              previous: key('k'),
              approve: key('a'),
              edit: key('e'),
              reject: key('r'),
              undo: key('z'),
            }}
          />
        </Text>
      )}
      <Switch
        size="xs"
        label={text.shortcuts}
        checked={on}
        onChange={(event) => setOn(event.currentTarget.checked)}
      />
    </Group>
  );
}

const key = (name: string) => <Kbd size="xs">{name}</Kbd>;
