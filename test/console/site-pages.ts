import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../site/dist');

/** The address of every page of the documentation site. */
export const siteAddresses = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html') && path !== '404.html')
    .map((path) => path.replace(/\.html$/, ''))
    .map((path) => `/docs/guide/${path === 'index' ? '' : path}`)
    .sort();
