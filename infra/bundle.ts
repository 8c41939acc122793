import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Where the one file that the operator's image runs is written. */
export const bundlePath = 'dist/runtime/main.js';

/**
 * Bundles the runtime into one file (and lazily loaded chunks beside it), so that the image holds no node_modules and a
 * process starts in a fraction of a second. CommonJS dependencies get a `require` of their own. A plugin makes another
 * release of it.
 */
export async function bundle(to = bundlePath, plugin?: Plugin): Promise<void> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  await build({
    entryPoints: { main: 'runtime/main.ts', issuer: 'runtime/certificates/issuer.ts' },
    outdir: dirname(to),
    plugins: [withoutBodyParser, ...(plugin === undefined ? [] : [plugin])],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
    define: { __OPERATOR_VERSION__: JSON.stringify(version) },
    banner: {
      js: "import{createRequire as __lumigoRequire}from'node:module';const require=__lumigoRequire(import.meta.url);",
    },
  });
}

/**
 * Express brings parsers of bodies, with half a megabyte of tables of character sets. The webhook reads bodies itself, in bounds
 * (runtime/webhook/body.ts), so that they would only be loaded.
 */
const withoutBodyParser: Plugin = {
  name: 'without-body-parser',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^body-parser$/ }, ({ path }) => ({ path, namespace: 'left-out' }));
    onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};' }));
  },
};

if (import.meta.url === `file://${process.argv[1]}`) await bundle();
