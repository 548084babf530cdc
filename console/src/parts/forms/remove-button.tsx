import { ActionIcon } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';

/** Removes one row of a form. `label` says which. */
export const RemoveButton = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <ActionIcon variant="subtle" color="danger" aria-label={label} onClick={onClick}>
    <IconTrash size={16} aria-hidden />
  </ActionIcon>
);
