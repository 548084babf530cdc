import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const fileOf = (projectDir: string): string => join(projectDir, '.cache/test-durations.json');

/** The duration of each test file's last run on this machine, in seconds. Empty before the first run. */
export function readDurations(projectDir: string): Record<string, number> {
  const file = fileOf(projectDir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>) : {};
}

interface FileResult {
  name: string;
  startTime: number;
  endTime: number;
}

/** Stores the durations of a run and keeps those of files that it left out. */
export function keepDurations(projectDir: string, results: readonly FileResult[]): void {
  const durations = readDurations(projectDir);
  for (const { name, startTime, endTime } of results) {
    durations[relative(projectDir, name)] = (endTime - startTime) / 1_000;
  }
  const file = fileOf(projectDir);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(durations, null, 1));
}
