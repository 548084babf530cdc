import { notifications } from '@mantine/notifications';
import { copyLink as text } from '#console/src/messages/en/parts/page.ts';

/** Copies the address of the page, which includes what is selected on it. */
export async function copyLink(): Promise<void> {
  await navigator.clipboard.writeText(window.location.href);
  notifications.show({ color: 'success', message: text.done });
}
