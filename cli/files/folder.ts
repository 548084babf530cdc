import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { misuse } from '#cli/endings.ts';
import { readDefinition, type ReadFile } from './definition.ts';
import { MAX_FILE_BYTES } from './text.ts';
import { terminal } from '#cli/terminal.ts';

const FILE = /\.(?:ya?ml|json)$/i;

/** Folders of tools, whose files are not workflows. */
const isPassedOver = (name: string): boolean => name.startsWith('.') || name === 'node_modules';

/** How many files are read concurrently. */
const AT_ONCE = 16;

export interface Found {
  files: string[];
  /** Symbolic links in folders. They are not followed, since they can lead anywhere. */
  links: string[];
}

/**
 * The workflow files (`.yaml`, `.yml`, `.json`) in a folder and its subfolders, sorted by path. Hidden folders and
 * `node_modules` are skipped.
 */
export async function filesBelow(folder: string): Promise<Found> {
  const found: Found = { files: [], links: [] };
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (isPassedOver(entry.name)) continue;
    if (entry.isSymbolicLink()) found.links.push(path);
    else if (entry.isFile() && FILE.test(entry.name)) found.files.push(path);
    else if (entry.isDirectory()) {
      const below = await filesBelow(path);
      found.files.push(...below.files);
      found.links.push(...below.links);
    }
  }
  return found;
}

/**
 * The files at these paths: each path is a file, a folder, or `-` for standard input. Each file is returned once.
 * Throws Ending.
 */
export async function filesAt(paths: readonly string[]): Promise<Found> {
  const found: Found = { files: [], links: [] };
  const seen = new Set<string>();
  for (const path of paths) {
    const { files, links } = await filesOf(path);
    found.links.push(...links);
    for (const file of files) {
      const place = file === '-' ? file : await realpath(file);
      if (!seen.has(place)) found.files.push(file);
      seen.add(place);
    }
  }
  return found;
}

async function filesOf(path: string): Promise<Found> {
  if (path === '-') return { files: ['-'], links: [] };
  try {
    if (!(await stat(path)).isDirectory()) return { files: [path], links: [] };
    const found = await filesBelow(path);
    if (found.files.length > 0) return found;
  } catch (error) {
    throw misuse(`${path} cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
  throw misuse(`${path} has no workflow files (.yaml, .yml or .json)`);
}

/** Reads and checks files. A file that cannot be read is also a problem. */
export async function readFiles(files: readonly string[]): Promise<ReadFile[]> {
  const read: ReadFile[] = [];
  for (let at = 0; at < files.length; at += AT_ONCE) {
    read.push(...(await Promise.all(files.slice(at, at + AT_ONCE).map(readOne))));
  }
  return read;
}

async function readOne(file: string): Promise<ReadFile> {
  const broken = (message: string): ReadFile => ({
    file,
    problems: [{ message }],
    placeInGraph: () => undefined,
  });
  try {
    const content = file === '-' ? await text(terminal().stdin) : await contentOf(file);
    if (content.length > MAX_FILE_BYTES) return broken(tooLarge);
    return readDefinition(file, content, formatOf(file, content));
  } catch (error) {
    return broken(`cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
}

const tooLarge = `is larger than ${MAX_FILE_BYTES / 1_048_576} MiB`;

async function contentOf(file: string): Promise<string> {
  const found = await stat(file);
  if (found.size > MAX_FILE_BYTES) throw new Error(`it ${tooLarge}`);
  // Invalid bytes are an error instead of becoming U+FFFD, which no one wrote.
  return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
}

function formatOf(file: string, content: string): 'json' | 'yaml' {
  if (FILE.test(file)) return /\.json$/i.test(file) ? 'json' : 'yaml';
  return content.trimStart().startsWith('{') ? 'json' : 'yaml';
}

/** What exists at a path, without following a link; undefined if nothing does. */
export async function kindAt(path: string): Promise<'file' | 'link' | 'other' | undefined> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) return 'link';
    return found.isFile() ? 'file' : 'other';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw misuse(`${basename(path)} cannot be read: ${(error as Error).message}`);
  }
}
