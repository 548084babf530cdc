import { Group, Kbd, Switch, Text } from '@mantine/core';
import { useShortcutsOn } from '../../parts/shortcuts.ts';

/** The keyboard shortcuts, and a switch to disable them. */
export function ShortcutHelp() {
  const [on, setOn] = useShortcutsOn();
  return (
    <Group gap="sm">
      {on && (
        <Text size="xs" c="dimmed">
          <Kbd size="xs">j</Kbd> next, <Kbd size="xs">k</Kbd> previous, <Kbd size="xs">a</Kbd>{' '}
          approve, <Kbd size="xs">r</Kbd> reject
        </Text>
      )}
      <Switch
        size="xs"
        label="Keyboard shortcuts"
        checked={on}
        onChange={(event) => setOn(event.currentTarget.checked)}
      />
    </Group>
  );
}
