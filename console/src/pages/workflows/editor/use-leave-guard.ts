import { modals } from '@mantine/modals';
import { useBlocker } from '@tanstack/react-router';

/** Asks before leaving with unsaved changes, by a link, the back button or closing the tab. */
export function useLeaveGuard(unsaved: boolean): void {
  useBlocker({
    disabled: !unsaved,
    enableBeforeUnload: () => unsaved,
    shouldBlockFn: () =>
      new Promise<boolean>((resolve) => {
        modals.openConfirmModal({
          title: 'Leave without saving?',
          children: 'You have unsaved changes to the graph. If you leave, you lose them.',
          labels: { confirm: 'Leave', cancel: 'Stay' },
          confirmProps: { color: 'red' },
          onConfirm: () => resolve(false),
          onCancel: () => resolve(true),
          onClose: () => resolve(true),
        });
      }),
  });
}
