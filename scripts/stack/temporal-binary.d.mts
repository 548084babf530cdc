export const temporalCliVersion: string;
export const noTemporalMessage: string;
export function cachedTemporalDir(projectDir: string): string;
export function cachedTemporalPath(projectDir: string): string;
export function isExecutable(path: string): boolean;
export function findOnPath(
  name: string,
  env: Record<string, string | undefined>,
): string | undefined;
export function findTemporalBinary(
  projectDir: string,
  env: Record<string, string | undefined>,
): string | undefined;
