import { describe, expect, it } from '@jest/globals';
import { activePolicy, instrumented, made, tracing } from '../../sandbox/testing/injection.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { hideOutput, redactLumigo, redactOwn, redactWorkload, scrub } from './redact.ts';

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
    const bundle = hideOutput({ pods: [redactWorkload(pod)], conditions: [{ message: sentence }], logs: [line] });
    expect(JSON.stringify(bundle)).not.toContain('hunter2');
    expect(bundle).toMatchObject({
      pods: [{ status: { containerStatuses: [{ lastState: { terminated: { exitCode: 3 } } }] } }],
      conditions: [{ message: "pod 'a', container 'app': Error with exit code 3, last output: …" }],
      logs: [expect.stringMatching(/last output: …","msg":"workload changed"}$/)],
    });
  });

  it('has no token, neither as text nor in base64', () => {
    const encoded = Buffer.from(validToken).toString('base64');
    expect(scrub(`a ${validToken} b ${encoded} c`)).toBe('a t_… b t_… c');
  });

  it('has no managed fields, at any depth', () => {
    expect(redactOwn({ items: [{ metadata: { name: 'x', managedFields: [{}] } }] })).toEqual({
      items: [{ metadata: { name: 'x' } }],
    });
  });
});
