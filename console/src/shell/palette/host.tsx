import { ActionIcon, Button, Kbd } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import { commandHost as text } from '#console/src/messages/en/shell.ts';
import { pageKeys } from '#console/src/nav.ts';
import { useSequences, useShortcuts } from '#console/src/parts/shortcuts.ts';
import { usePaletteOpened } from './open.ts';

const CommandPalette = lazyPart(() => import('./palette.tsx'), 'CommandPalette');
const ShortcutSheet = lazyPart(() => import('./shortcut-sheet.tsx'), 'ShortcutSheet');

const isMac = /mac/i.test(navigator.userAgent);

/** The button of the command palette, its key, and the keys that work on every page. */
export function CommandHost() {
  const palette = usePaletteOpened();
  const [sheet, setSheet] = useState(false);
  const navigate = useNavigate();
  useShortcuts({ '?': () => setSheet(true) });
  useSequences(
    'g',
    Object.fromEntries(pageKeys.map(({ key, page: { to } }) => [key, () => void navigate({ to })])),
  );
  const opener = {
    'aria-keyshortcuts': 'Control+K Meta+K',
    onClick: palette.open,
  };
  return (
    <>
      <Button
        variant="default"
        className="search-field"
        visibleFrom="sm"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={<Kbd size="xs">{isMac ? text.macKeys : text.keys}</Kbd>}
        {...opener}
      >
        {text.short}
      </Button>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        hiddenFrom="sm"
        aria-label={text.label}
        {...opener}
      >
        <IconSearch size={18} />
      </ActionIcon>
      <Suspense fallback={null}>
        {palette.opened && (
          <CommandPalette
            onClose={palette.close}
            onShortcuts={() => {
              palette.close();
              setSheet(true);
            }}
          />
        )}
        {sheet && <ShortcutSheet onClose={() => setSheet(false)} />}
      </Suspense>
    </>
  );
}
