import { Modal } from '@mantine/core';
import type { ComponentProps } from 'react';
import { Form } from '#console/src/parts/forms/form.tsx';

/** A form in a dialog. It stays open, with its input, until the request succeeds. */
export function FormModal({
  title,
  onClose,
  ...form
}: ComponentProps<typeof Form> & { title: string; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeOnClickOutside={false}>
      <Form {...form} onCancel={onClose} />
    </Modal>
  );
}
