import { createClient } from '../../runtime/kubernetes/http/client.ts';
import { elect } from '../../runtime/kubernetes/lease/leader-election.ts';
import { connectTo } from '../control-plane/connect.ts';

/** A program that stands for election until it is killed, and prints `leading` when it leads. */
const { API_SERVER = '', API_CA = '', API_TOKEN = '', ELECTION = '{}' } = process.env;
const transport = connectTo({ server: API_SERVER, ca: API_CA, token: API_TOKEN });
await elect({
  ...(JSON.parse(ELECTION) as { namespace: string; name: string; identity: string }),
  client: createClient(transport),
  signal: new AbortController().signal,
  onStartedLeading: () => void process.stdout.write('leading\n'),
});
