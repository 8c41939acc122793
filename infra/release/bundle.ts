import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

export const bundlePath = 'dist/runtime/main.js';

/** Bundles the runtime, so the image needs no node_modules and a process starts faster. CommonJS dependencies get a `require`. */
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

/** Bundles the runtime unless the same sources are bundled. Each test of a cluster calls it, and a build takes two seconds of CPU. */
export async function ensureBundle(): Promise<void> {
  const key = keyOfSources();
  if (existsSync(bundlePath) && existsSync(keyPath) && readFileSync(keyPath, 'utf8') === key) return;
  rmSync(keyPath, { force: true });
  await bundle(bundlePath);
  writeFileSync(keyPath, key);
}

/** Returns a digest of the runtime, the installed packages, and the bundler's options. */
function keyOfSources(): string {
  const files = readdirSync('runtime', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join('runtime', name));
  const hash = createHash('sha256');
  for (const name of [...files.toSorted(), 'infra/release/bundle.ts', 'package.json', 'package-lock.json'])
    hash.update(`${name}\n${readFileSync(name, 'utf8')}\n`);
  return hash.digest('hex');
}

/** Without this plugin, an import from Node.js loads each export of a module: with `http`, all of `fetch` and HTTP/2. */
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

/** Packages that libraries load for features without use here. The webhook reads bodies itself, in bounds (runtime/webhook/body.ts). */
const packagesLeftOut = /^(@opentelemetry\/api|thread-stream|body-parser|debug|mime-db|qs|send|serve-static)$/;
/** In prom-client: metrics of several processes (which load `cluster`), pushed metrics (which load `zlib`), and summaries. */
const metricsLeftOut = /^\.\/lib\/(cluster|pushgateway|summary)$/;

const leftOut: Plugin = {
  name: 'left-out',
  setup({ onResolve, onLoad }) {
    const namespace = 'left-out';
    onResolve({ filter: packagesLeftOut }, ({ path }) => ({ path, namespace }));
    onResolve({ filter: metricsLeftOut }, ({ path, importer }) =>
      importer.includes('/prom-client/') ? { path, namespace } : undefined,
    );
    // `debug` must return a function. The exports of the others are not used.
    onLoad({ filter: /.*/, namespace }, () => ({ contents: 'module.exports = () => () => undefined;' }));
  },
};

if (import.meta.url === `file://${process.argv[1]}`) {
  rmSync(keyPath, { force: true });
  await ensureBundle();
}
