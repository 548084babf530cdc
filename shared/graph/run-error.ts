/** The error of a run whose step has failed. The node's own errors are `node`; others already say what they are about. */
export const runError = ({
  label,
  error,
  reason,
}: {
  label: string;
  error: string;
  reason: string;
}): string => (reason === 'node' ? `Node '${label}' failed: ${error}` : error);
