import { Button, type ButtonProps, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

/** A button that opens a dialog. Its content can close the dialog. */
export function ModalButton({
  label,
  title,
  width = 'md',
  children,
  ...look
}: Omit<ButtonProps, 'children'> & {
  label: string;
  title: string;
  width?: 'md' | 'lg';
  children: (close: () => void) => ReactNode;
}) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" {...look} onClick={open}>
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={title} size={width}>
        {children(close)}
      </Modal>
    </>
  );
}
