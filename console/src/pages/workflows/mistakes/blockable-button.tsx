import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import { blocked as text } from '#console/src/messages/en/workflows/mistakes.ts';

/** A button that starts a run. If something keeps it from that, it says what, also to those who use the keyboard. */
export function BlockableButton({
  reason,
  onBlocked,
  onClick,
  ...button
}: ButtonProps & {
  /** Why the graph cannot run; undefined if it can. */
  reason: string | undefined;
  /** Shows more about the reason. */
  onBlocked?: () => void;
  onClick: () => void;
}) {
  if (reason === undefined) return <Button {...button} onClick={onClick} />;
  return (
    <Tooltip label={text.toRun(reason)} withinPortal={false} multiline maw={320}>
      <Button {...button} data-disabled aria-disabled onClick={onBlocked} />
    </Tooltip>
  );
}
