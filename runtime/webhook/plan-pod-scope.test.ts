import { describe, expect, it } from '@jest/globals';
import { webhooks } from '../contract.ts';
import type { Webhook } from '../kubernetes/resources/webhooks.ts';
import { planPodScope } from './plan-pod-scope.ts';

const service = { name: 'hooks', namespace: 'lumigo-system', path: '/v1alpha1/inject', port: 443 };
const injector: Webhook = {
  ...{ name: webhooks.injector, failurePolicy: 'Fail', timeoutSeconds: 7, reinvocationPolicy: 'IfNeeded' },
  clientConfig: { service, caBundle: 'the authority' },
  namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['a'] }] },
  ...{ admissionReviewVersions: ['v1'], sideEffects: 'None' },
};
const lumigoes = { ...injector, name: webhooks.lumigoes };

describe('the webhook for pods', () => {
  it('is none where no namespace is in Pod mode, or there is no injector to be like', () => {
    expect(planPodScope([injector, lumigoes], [])).toEqual([]);
    expect(planPodScope([lumigoes], ['shop'])).toEqual([]);
  });

  it('is called for pods as they are created, of these namespaces alone, as the injector is', () => {
    const [found, ...others] = planPodScope([lumigoes, injector], ['shop', 'bank', 'shop']);
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      ...{ name: webhooks.pods, failurePolicy: 'Ignore', timeoutSeconds: 7, reinvocationPolicy: 'IfNeeded' },
      clientConfig: { service: { ...service, path: '/v1alpha1/pods' }, caBundle: 'the authority' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    });
    expect(found?.['namespaceSelector']).toEqual({
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['bank', 'shop'] }],
    });
  });

  it('is found where the injector is, also beside the cluster', () => {
    const clientConfig = { url: 'https://127.0.0.1:9443/v1alpha1/inject', caBundle: 'x' };
    expect(planPodScope([{ ...injector, clientConfig }], ['shop'])[0]?.clientConfig).toEqual({
      url: 'https://127.0.0.1:9443/v1alpha1/pods',
      caBundle: 'x',
    });
  });
});
