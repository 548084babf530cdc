interface Program {
  version: string;
  path: string;
}

export function clusterPrograms(
  projectDir: string,
): Record<'server' | 'schemaTool' | 'ui', Program>;
