import { join } from 'node:path';
import { buildClient } from './client/build.ts';

/** `npm run client:build [-- <folder>]`: builds the client's package in `dist/client`, or in the given folder. */
const folder = process.argv[2] ?? join(import.meta.dirname, '../dist/client');
await buildClient(folder);
console.log(`The package is in ${folder}`);
