import { Box, Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFilter } from '@tabler/icons-react';
import { useId, type ReactNode } from 'react';
import { foldedFilters as text } from '#console/src/messages/en/parts/data.ts';

/** Filters that are behind a button on a phone, where they would push the list out of view. */
export function FoldedFilters({ inUse, children }: { inUse: number; children: ReactNode }) {
  const [opened, { toggle }] = useDisclosure(false);
  const id = useId();
  return (
    <>
      <Button
        variant="default"
        hiddenFrom="sm"
        leftSection={<IconFilter size={16} aria-hidden />}
        aria-expanded={opened}
        aria-controls={id}
        onClick={toggle}
        style={{ alignSelf: 'start' }}
      >
        {inUse === 0 ? text.filters : text.inUse(inUse)}
      </Button>
      <Box id={id} {...(opened ? {} : { visibleFrom: 'sm' })}>
        {children}
      </Box>
    </>
  );
}
