import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Where the one file that the operator's image runs is written. */
export const bundlePath = 'dist/runtime/main.js';

/**
 * Bundles the runtime into one file (and lazily loaded chunks beside it), so that the image holds no node_modules and a
 * process starts in a fraction of a second. CommonJS dependencies get a `require` of their own. A plugin makes another
 * release of it.
 */
export async function bundle(to: string, plugin?: Plugin): Promise<void> {
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

const keyPath = 'dist/runtime.key';

/**
 * Bundles the runtime where it always is, unless what stands there was made of these very sources: every test of a
 * cluster asks for it, and each would spend two seconds of a core on the same bytes.
 */
export async function ensureBundle(): Promise<void> {
  const key = keyOfSources();
  if (existsSync(bundlePath) && existsSync(keyPath) && readFileSync(keyPath, 'utf8') === key) return;
  rmSync(keyPath, { force: true });
  await bundle(bundlePath);
  writeFileSync(keyPath, key);
}

/** A digest of all that the bundle is made of: the runtime, the packages that are installed, and how they are bundled. */
function keyOfSources(): string {
  const files = readdirSync('runtime', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join('runtime', name));
  const hash = createHash('sha256');
  for (const name of [...files.toSorted(), 'infra/release/bundle.ts', 'package.json', 'package-lock.json'])
    hash.update(`${name}\n${readFileSync(name, 'utf8')}\n`);
  return hash.digest('hex');
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

if (import.meta.url === `file://${process.argv[1]}`) {
  rmSync(keyPath, { force: true });
  await ensureBundle();
}
