import { Modal, Stack, Switch } from '@mantine/core';
import { useRouterState } from '@tanstack/react-router';
import { shortcutSheet as text } from '#console/src/messages/en/palette.ts';
import { useShortcutsOn } from '#console/src/parts/shortcuts.ts';
import { everywhere, ofPages, ShortcutList } from './shortcut-lists.tsx';

/** The shortcuts of this page, and a switch for those without Ctrl. */
export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [on, setOn] = useShortcutsOn();
  const here = ofPages.filter(({ page }) => page.test(path));
  return (
    <Modal opened onClose={onClose} title={text.title}>
      <Stack gap="lg">
        {here.map(({ title, shortcuts }) => (
          <ShortcutList key={title} title={title} shortcuts={shortcuts} />
        ))}
        <ShortcutList title={text.everyPage} shortcuts={everywhere} />
        <Switch
          label={text.single}
          description={text.singleAbout}
          checked={on}
          onChange={(event) => setOn(event.currentTarget.checked)}
        />
      </Stack>
    </Modal>
  );
}
