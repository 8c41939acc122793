import { renderTracedNamespace } from '../../infra/constructs/traced-namespace.ts';

export const SAMPLE_NAMESPACE = 'lumigo-sample';
export const SAMPLE_DEPLOYMENT = 'hello';
const PORT = 8080;

/** The shape is that of a token. Lumigo refuses it, so the sample shows the instrumentation, but no trace arrives. */
export const PLACEHOLDER_TOKEN = 't_123456789012345678901';

const server = `require('http').createServer((_, to) => to.end('hello')).listen(${PORT})`;

export const request = `fetch('http://localhost:${PORT}').then((answer) => answer.text()).then(console.log)`;

const labels = { app: SAMPLE_DEPLOYMENT };
const container = { name: 'hello', image: 'node:24-bookworm-slim', command: ['node', '-e', server] };

const object = (apiVersion: string, kind: string, name: string, content: object) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: SAMPLE_NAMESPACE },
  ...content,
});

const [namespace, lumigo] = renderTracedNamespace({ namespace: SAMPLE_NAMESPACE });

export const getSample = (token: string) => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    namespace,
    object('apps/v1', 'Deployment', SAMPLE_DEPLOYMENT, {
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    }),
    object('v1', 'Secret', 'lumigo-credentials', { stringData: { token } }),
    lumigo,
  ],
});
