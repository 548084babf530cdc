/** Path of the Go command: on PATH, or where it is usually installed. */
export function findGo(env: Record<string, string | undefined>): string | undefined;
