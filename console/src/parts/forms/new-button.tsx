import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** The button of a list page that opens a form for a new entry. */
export const NewButton = ({ onClick, children }: { onClick: () => void; children: ReactNode }) => (
  <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={onClick}>
    {children}
  </Button>
);
