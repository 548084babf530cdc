/**
 * Node flags for every process of the service, the same as in docker/entrypoint.sh. Without this limit, V8's young
 * generation grows on an idle machine until a worker uses twice the memory it needs.
 */
export const nodeFlags: readonly string[] = ['--max-semi-space-size=8'];
