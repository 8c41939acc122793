import { lumigoOf } from '../lumigo.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';

export const SAMPLE_NAMESPACE = 'lumigo-sample';
export const SAMPLE_DEPLOYMENT = 'hello';
const PORT = 8080;

/** Has the shape of a token. Lumigo refuses it, so the sample shows the instrumentation, and no trace arrives. */
export const PLACEHOLDER_TOKEN = 't_123456789012345678901';

/** A Node.js program without any tracing: it answers each request with a word. */
const server = `require('http').createServer((_, to) => to.end('hello')).listen(${PORT})`;

/** Sends one request to the program, from inside its container. */
export const request = `fetch('http://localhost:${PORT}').then((answer) => answer.text()).then(console.log)`;

const object = (apiVersion: string, kind: string, name: string, content: object): Manifest => ({
  apiVersion,
  kind,
  metadata: { name, namespace: SAMPLE_NAMESPACE },
  ...content,
});

export const sampleNamespace: Manifest = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: SAMPLE_NAMESPACE },
};

const container = { name: 'hello', image: 'node:24-bookworm-slim', command: ['node', '-e', server] };
const labels = { app: SAMPLE_DEPLOYMENT };

export const sampleDeployment = object('apps/v1', 'Deployment', SAMPLE_DEPLOYMENT, {
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container] } },
  },
});

export const getSampleSecret = (token: string): Manifest =>
  object('v1', 'Secret', 'lumigo-credentials', { stringData: { token } });

export const sampleLumigo = lumigoOf(SAMPLE_NAMESPACE);
