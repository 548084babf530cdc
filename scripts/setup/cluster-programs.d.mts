interface Program {
  version: string;
  path: string;
}

export function clusterPrograms(
  projectDir: string,
): Record<'server' | 'schemaTool' | 'ui', Program>;

/** Builds the missing ones with Go. Throws without Go. */
export function provideClusterPrograms(projectDir: string): Promise<void>;
