/**
 * Flags of Node for every process of the service; docker/entrypoint.sh has the same. Without a bound V8 lets the
 * young generation of an idle machine grow until a worker holds twice the memory it needs.
 */
export const nodeFlags: readonly string[] = ['--max-semi-space-size=8'];
