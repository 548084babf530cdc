import { Group } from '@mantine/core';
import type { ReactNode } from 'react';

/** The buttons of a form or dialog, the primary one last. A dialog that is longer than the window keeps them in view. */
export const Footer = ({ children }: { children: ReactNode }) => (
  <Group justify="flex-end" gap="xs" className="footer">
    {children}
  </Group>
);
