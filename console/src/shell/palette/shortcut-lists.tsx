import { Group, Kbd, Stack, Text, Title } from '@mantine/core';
import { shortcutSheet as text } from '#console/src/messages/en/palette.ts';
import { pageKeys } from '#console/src/nav.ts';

interface Shortcut {
  keys: readonly string[];
  effect: string;
}

export const everywhere: readonly Shortcut[] = [
  { keys: ['Ctrl', 'K'], effect: text.palette },
  { keys: ['?'], effect: text.sheet },
  ...pageKeys.map(({ key, page }) => ({ keys: ['g', key], effect: text.goTo(page.label) })),
];

/** Shortcuts of pages, by the start of their path. */
export const ofPages: readonly { page: RegExp; title: string; shortcuts: readonly Shortcut[] }[] = [
  {
    page: /^\/approvals/,
    title: text.approvals.title,
    shortcuts: [
      { keys: ['j'], effect: text.approvals.next },
      { keys: ['k'], effect: text.approvals.previous },
      { keys: ['a'], effect: text.approvals.approve },
      { keys: ['e'], effect: text.approvals.edit },
      { keys: ['r'], effect: text.approvals.reject },
      { keys: ['Ctrl', 'Enter'], effect: text.approvals.approveField },
      { keys: ['Ctrl', 'Enter'], effect: text.approvals.rejectReason },
      { keys: ['Escape'], effect: text.approvals.leave },
      { keys: ['z'], effect: text.approvals.undo },
    ],
  },
  {
    page: /^\/workflows\/[^/]+\/edit$/,
    title: text.editor.title,
    shortcuts: [
      { keys: ['Ctrl', 'Z'], effect: text.editor.undo },
      { keys: ['Ctrl', 'Y'], effect: text.editor.redo },
      { keys: ['Ctrl', 'S'], effect: text.editor.save },
    ],
  },
];

/** The shortcuts of every page, and those of single ones. */
export const AllShortcuts = () => (
  <>
    <ShortcutList title={text.everyPage} shortcuts={everywhere} />
    {ofPages.map(({ title, shortcuts }) => (
      <ShortcutList key={title} title={title} shortcuts={shortcuts} />
    ))}
  </>
);

export function ShortcutList({
  title,
  shortcuts,
}: {
  title: string;
  shortcuts: readonly Shortcut[];
}) {
  return (
    <Stack gap={6}>
      <Title order={3} size="sm">
        {title}
      </Title>
      {shortcuts.map(({ keys, effect }) => (
        <Group key={effect} justify="space-between" wrap="nowrap">
          <Text size="sm">{effect}</Text>
          <Group gap={4} wrap="nowrap" flex="none">
            {keys.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </Group>
        </Group>
      ))}
    </Stack>
  );
}
