/** The path of promtool: on PATH, or built with Go. Throws SetupError without both. */
export function providePromtool(projectDir: string): Promise<string>;
