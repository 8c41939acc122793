import { renderTracedNamespace } from '../../infra/constructs/traced-namespace.ts';
import { getSecret } from '../lumigo.ts';

export const SAMPLE_NAMESPACE = 'lumigo-sample';
export const SAMPLE_DEPLOYMENT = 'hello';
const PORT = 8080;

/** The shape is that of a token. Lumigo refuses it, so the sample shows the instrumentation, but no trace arrives. */
export const PLACEHOLDER_TOKEN = 't_123456789012345678901';

const server = `require('http').createServer((_, to) => to.end('hello')).listen(${PORT})`;

export const request = `fetch('http://localhost:${PORT}').then((answer) => answer.text()).then(console.log)`;

const labels = { app: SAMPLE_DEPLOYMENT };
const container = { name: 'hello', image: 'node:24-bookworm-slim', command: ['node', '-e', server] };

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: SAMPLE_DEPLOYMENT, namespace: SAMPLE_NAMESPACE },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container] } },
  },
};

const [namespace, lumigo] = renderTracedNamespace({ namespace: SAMPLE_NAMESPACE });

export const getSample = (token: string) => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [namespace, deployment, getSecret(SAMPLE_NAMESPACE, token), lumigo],
});
