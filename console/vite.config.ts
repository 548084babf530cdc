import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { precompress } from './precompress.ts';

/** Where `npm run dev` serves the console: the origin that the API lets in by default. */
const DEV_PORT = 3000;

/** Compresses the assets. The document gets a nonce for each answer. */
function precompressed(): Plugin {
  let folder = '';
  return {
    name: 'precompressed',
    apply: 'build',
    configResolved: (config) => {
      folder = resolve(config.root, config.build.outDir);
    },
    // Not in closeBundle, which Vite calls after a failed build too: an error there would hide the cause.
    writeBundle: () => precompress(folder, ['index.html']),
  };
}

/**
 * Builds the console in another language: takes each module of messages that this folder has from there, and the others
 * from `src/messages/en`.
 */
function translated(folder: string): Plugin {
  const english = join(import.meta.dirname, 'src/messages/en/');
  return {
    name: 'translated',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      // A translation can refer to the English texts.
      if (importer?.startsWith(folder) === true) return null;
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      if (resolved?.id.startsWith(english) !== true) return null;
      const translation = join(folder, resolved.id.slice(english.length));
      return existsSync(translation) ? translation : null;
    },
    transformIndexHtml: async (html) => {
      const { locale } = (await import(join(folder, 'locale.ts'))) as { locale: string };
      return html.replace('<html lang="en">', `<html lang="${locale}">`);
    },
  };
}

/** With `--mode de`, the messages of `src/messages/de`. */
function translatedBy(mode: string): Plugin[] {
  const folder = join(import.meta.dirname, 'src/messages', mode);
  return existsSync(join(folder, 'locale.ts')) ? [translated(folder)] : [];
}

// A config file is looked up by its default export.
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  plugins: [react(), precompressed(), ...translatedBy(mode)],
  server: { port: DEV_PORT, strictPort: true, host: '127.0.0.1' },
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // Data URLs would need a laxer policy than 'self'.
    assetsInlineLimit: 0,
    // One style sheet, with the document: a page must not depend on another file that may not arrive.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
}));
