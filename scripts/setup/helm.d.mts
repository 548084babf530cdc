/** The path of Helm: on PATH, or built with Go. Throws without both. */
export function provideHelm(projectDir: string): Promise<string>;
