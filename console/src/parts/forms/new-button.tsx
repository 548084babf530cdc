import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useRequestedForm } from './requested-form.ts';

/** The button of a list page that opens a form for a new entry. The command palette can open it, too. */
export function NewButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  useRequestedForm(onClick);
  return (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={onClick}>
      {children}
    </Button>
  );
}
