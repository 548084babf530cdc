import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Where `npm run dev` serves the console: the origin that the API lets in by default. */
const DEV_PORT = 3000;
const COMPRESSIBLE = /\.(?:js|css|svg)$/;

/** Lays a Brotli and a gzip copy beside each asset, so that the API compresses nothing while it answers. */
function precompressed(): Plugin {
  let folder = '';
  return {
    name: 'precompressed',
    apply: 'build',
    configResolved: (config) => {
      folder = join(config.root, config.build.outDir);
    },
    closeBundle: () => {
      const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      for (const path of paths.filter((each) => COMPRESSIBLE.test(each))) {
        const content = readFileSync(join(folder, path));
        writeFileSync(join(folder, `${path}.gz`), gzipSync(content, { level: 9 }));
        const params = { [constants.BROTLI_PARAM_QUALITY]: 10 };
        writeFileSync(join(folder, `${path}.br`), brotliCompressSync(content, { params }));
      }
    },
  };
}

// A config file is looked up by its default export.
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), precompressed()],
  server: { port: DEV_PORT, strictPort: true, host: '127.0.0.1' },
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // Data URLs would need a laxer policy than 'self'.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
});
