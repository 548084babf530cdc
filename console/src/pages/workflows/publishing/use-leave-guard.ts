import { modals } from '@mantine/modals';
import { useBlocker } from '@tanstack/react-router';
import { leaveGuard as text } from '#console/src/messages/en/workflows/publishing.ts';

/** Asks before leaving with unsaved changes, through a link, the back button or closing the tab. */
export function useLeaveGuard(unsaved: boolean): void {
  useBlocker({
    disabled: !unsaved,
    enableBeforeUnload: () => unsaved,
    shouldBlockFn: () =>
      new Promise<boolean>((resolve) => {
        modals.openConfirmModal({
          title: text.title,
          children: text.consequence,
          labels: { confirm: text.leave, cancel: text.stay },
          confirmProps: { color: 'danger' },
          onConfirm: () => resolve(false),
          onCancel: () => resolve(true),
          onClose: () => resolve(true),
        });
      }),
  });
}
