import { describe, expect, it } from '@jest/globals';
import { activePolicy, instrumented, made, tracing } from '../../sandbox/testing/injection.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { hideSecrets, redactLumigo, redactOwn, redactWorkload } from './redact.ts';

describe('a bundle for support', () => {
  it('has names and images of a workload, and no value that its user wrote', () => {
    const env = [
      { name: 'PASSWORD', value: 'hunter2' },
      { name: 'LUMIGO_TRACER_TOKEN', value: validToken },
      { name: 'LD_PRELOAD', value: '/own.so' },
    ];
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'hunter2', 'lumigo.retry': 'now' };
    const workload = createWorkload(workloadKinds.deployment, 'shop', 'cart', {
      env,
      annotations,
    } as never) as unknown as Workload;
    const text = JSON.stringify(redactWorkload(workload));
    expect(text).not.toMatch(/hunter2|t_0123/);
    expect(text).toContain('"PASSWORD","LUMIGO_TRACER_TOKEN","LD_PRELOAD=/own.so"');
  });

  it('has the names of replaced variables and of settings for tracers, and no value of them', () => {
    const env = [{ name: 'LUMIGO_ENDPOINT', value: 'hunter2' }];
    const policy = activePolicy({ ...tracing, env: { OTEL_SERVICE_NAME: { value: 'hunter2' } } });
    const workload = instrumented(made({ pod: { containers: [{ name: 'app', image: 'app:1', env }] } }), { policy });
    const spec = { tracing: { env: [{ name: 'OTEL_SERVICE_NAME', value: 'hunter2' }] } };
    const text = JSON.stringify([redactWorkload(workload), redactLumigo({ spec })]);
    expect(text).not.toContain('hunter2');
    expect(text.match(/OTEL_SERVICE_NAME/g)).toHaveLength(3);
  });

  it('has nothing that a program printed', () => {
    const terminated = { exitCode: 3, reason: 'Error', message: 'hunter2' };
    const status = { containerStatuses: [{ name: 'app', lastState: { terminated } }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: {}, status } as Workload;
    const sentence = "pod 'a', container 'app': Error with exit code 3, last output: say \"hunter2\"";
    const line = JSON.stringify({ reason: sentence, msg: 'workload changed' });
    const bundle = hideSecrets({ pods: [redactWorkload(pod)], conditions: [{ message: sentence }], logs: [line] });
    expect(JSON.stringify(bundle)).not.toContain('hunter2');
    expect(bundle).toMatchObject({
      pods: [{ status: { containerStatuses: [{ lastState: { terminated: { exitCode: 3 } } }] } }],
      conditions: [{ message: "pod 'a', container 'app': Error with exit code 3, last output: …" }],
      logs: [expect.stringMatching(/last output: …","msg":"workload changed"}$/)],
    });
  });

  it('has no token, neither as text nor in base64, and no password of an address', () => {
    const [encoded, line] = [validToken, `${validToken}\n`].map((each) => Buffer.from(each).toString('base64'));
    const text = `${validToken} ${encoded} ${line} c "https://me:hunter2@proxy.example:3128/a?b=c:d@e" d http://host:80/@a`;
    expect(hideSecrets([text])).toEqual(['t_… t_… t_… c "https://…@proxy.example:3128/a?b=c:d@e" d http://host:80/@a']);
  });

  it('has of the operator no value that others put into its pods', () => {
    const env = [
      { name: 'HTTPS_PROXY', value: 'http://me:hunter2@proxy.example:3128' },
      { name: 'LUMIGO_CONFIG', value: '{"endpoint":"https://edge.example"}' },
      { name: 'GOMEMLIMIT', value: '200MiB' },
    ];
    const annotations = { 'vendor.example/key': 'hunter2', 'lumigo.retry': 'now' };
    const spec = { template: { metadata: { annotations }, spec: { containers: [{ name: 'manager', env }] } } };
    const text = JSON.stringify(redactOwn({ metadata: { annotations }, spec }));
    expect(text).not.toContain('hunter2');
    expect(text).toContain('{"name":"HTTPS_PROXY","value":"…"}');
    for (const shown of ['edge.example', '200MiB', 'lumigo.retry']) expect(text).toContain(shown);
  });

  it('has no managed fields, at any depth', () => {
    expect(redactOwn({ items: [{ metadata: { name: 'x', managedFields: [{}] } }] })).toEqual({
      items: [{ metadata: { name: 'x' } }],
    });
  });
});
