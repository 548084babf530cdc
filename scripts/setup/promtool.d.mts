/** The path of promtool: on PATH, or built before. Undefined without both. */
export function findPromtool(): string | undefined;
