import { managerSelector } from '../../runtime/contract.ts';
import { isInstrumented } from '../lumigo.ts';
import { ask } from '../node/ask.ts';
import type { NodeOptions } from '../node/node.ts';
import {
  getAddress,
  isReady,
  getPods,
  startNodeWithOperator,
  startNodeWithSink,
  type NodeWithSink,
  type PodView,
} from '../node/operator.ts';
import type { Received } from '../otlp-sink/sink.ts';
import { TestCluster } from '../testing/test-cluster.ts';
import { eventually } from '../testing/eventually.ts';
import { getToken } from '../testing/telemetry.ts';
import { deployment, restrictedNamespace, service, type AppOptions } from '../node/apps.ts';

export class NodeTest extends TestCluster {
  private tokens = 0;
  /** Eight need several connections, and each reaches one of the replicas. */
  protected override readonly probesAtOnce = 8;

  private constructor(readonly system: NodeWithSink) {
    super(system.node.client);
  }

  static async start(settings: object, options: NodeOptions = {}): Promise<NodeTest> {
    const started = Date.now();
    const system = await startNodeWithOperator(settings, options);
    process.stderr.write(`      the operator runs in pods after ${((Date.now() - started) / 1_000).toFixed(1)} s\n`);
    return new NodeTest(system);
  }

  static async bare(options: NodeOptions = {}): Promise<NodeTest> {
    return new NodeTest(await startNodeWithSink(options));
  }

  stop = (): Promise<void> => this.system.node.stop();

  /** Creates a namespace that enforces `restricted`, with an active `Lumigo` and a separate token. */
  async traced(namespace: string, spec: object = {}): Promise<{ namespace: string; token: string }> {
    await this.apply(restrictedNamespace(namespace));
    const token = getToken(0xe2e_000 + (this.tokens += 1));
    await this.activate(namespace, spec, token);
    return { namespace, token };
  }

  pods = (namespace: string, app: string): Promise<PodView[]> => getPods(this.system.node, namespace, `app=${app}`);

  operatorPods = (): Promise<PodView[]> => getPods(this.system.node, 'lumigo-system', managerSelector);

  waitForRunning = (
    namespace: string,
    app: string,
    { instrumented = true, replicas = 1, timeoutMs = 180_000 } = {},
  ): Promise<PodView[]> =>
    eventually(
      async () => {
        const pods = await this.pods(namespace, app);
        const fit = pods.filter((pod) => isReady(pod) && isInstrumented(pod) === instrumented);
        if (fit.length !== replicas || pods.length !== replicas)
          throw new Error(
            `${app}: ${pods.length} pods, ${fit.length} of them ready and ${instrumented ? '' : 'not '}instrumented: ${JSON.stringify(pods.map(({ status }) => status?.containerStatuses ?? status))}`,
          );
        return fit;
      },
      { timeoutMs, intervalMs: 400 },
    );

  /** Runs an instrumented program with a Service. Returns its address after it answers. */
  async serve(namespace: string, app: string, options: AppOptions = {}): Promise<string> {
    await this.apply(deployment(namespace, app, options), service(namespace, app));
    await this.waitForRunning(namespace, app);
    return this.getAddress(namespace, app);
  }

  /** Returns a service's address after it answers: a pod is ready before the node routes connections to it. */
  async getAddress(namespace: string, name: string): Promise<string> {
    const url = await getAddress(this.client, namespace, name);
    await eventually(() => ask(url), { timeoutMs: 40_000 });
    return url;
  }

  countSpans = (url: string, fits: (received: Received) => boolean, timeoutMs = 40_000): Promise<readonly Received[]> =>
    eventually(
      async () => {
        await ask(url).catch(() => undefined);
        const spans = (await this.system.sink.spans()).filter(fits);
        if (spans.length === 0) throw new Error(`no span of ${url} arrived that fits`);
        return spans;
      },
      { timeoutMs, intervalMs: 500 },
    );
}
