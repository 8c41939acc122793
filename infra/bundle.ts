import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
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
    plugins: [builtinsAsked, leftOut, ...(plugin === undefined ? [] : [plugin])],
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
 * What is imported by `import` from Node.js itself is read whole, each of its exports, and some of those load what nobody asked for: `http`
 * all of `fetch` and HTTP/2. Asked for like this, a module gives what is used of it.
 */
const builtinsAsked: Plugin = {
  name: 'builtins-asked',
  setup({ onResolve, onLoad }) {
    const namespace = 'builtin';
    onResolve({ filter: /^(node:)?[a-z0-9_/]+$/ }, ({ path }) => (isBuiltin(path) ? { path, namespace } : undefined));
    onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * What libraries load for features that are not used here: exemplars of metrics, logging from a thread of its own, what Express has for
 * bodies, queries, files and its own debugging (the webhook reads bodies itself, in bounds: runtime/webhook/body.ts).
 */
const packagesLeftOut = /^(@opentelemetry\/api|thread-stream|body-parser|debug|mime-db|qs|send|serve-static)$/;
/** Of prom-client: metrics of many processes, which loads `cluster`; metrics that are pushed, which loads `zlib`; summaries. */
const metricsLeftOut = /^\.\/lib\/(cluster|pushgateway|summary)$/;

const leftOut: Plugin = {
  name: 'left-out',
  setup({ onResolve, onLoad }) {
    const namespace = 'left-out';
    onResolve({ filter: packagesLeftOut }, ({ path }) => ({ path, namespace }));
    onResolve({ filter: metricsLeftOut }, ({ path, importer }) =>
      importer.includes('/prom-client/') ? { path, namespace } : undefined,
    );
    // `debug` is called for a function to call; of the others nothing is used.
    onLoad({ filter: /.*/, namespace }, () => ({ contents: 'module.exports = () => () => undefined;' }));
  },
};

if (import.meta.url === `file://${process.argv[1]}`) await bundle();
