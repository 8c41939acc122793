import { createClient } from '../../runtime/kubernetes/http/client.ts';
import { elect } from '../../runtime/kubernetes/lease/leader-election.ts';
import { createTransport } from '../../runtime/kubernetes/http/transport.ts';

/** A program that stands for election until it is killed, and says `leading` when it does. */
const { API_SERVER = '', API_CA = '', API_TOKEN = '', ELECTION = '{}' } = process.env;
const transport = createTransport(
  { server: new URL(API_SERVER), ca: API_CA, authorization: () => Promise.resolve(`Bearer ${API_TOKEN}`) },
  { userAgent: 'candidate' },
);
await elect({
  ...(JSON.parse(ELECTION) as { namespace: string; name: string; identity: string }),
  client: createClient(transport),
  signal: new AbortController().signal,
  onStartedLeading: () => void process.stdout.write('leading\n'),
});
