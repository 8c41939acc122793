import { expect, it } from '@jest/globals';
import { assumedSettings, toInjector } from './config.ts';

it.each([
  ['holds while rollouts are judged', 'progressive', false],
  ['does not hold with rollout.strategy: immediate, which judges none', 'immediate', true],
] as const)('an earlier revert %s', (_title, rolloutStrategy, ignoresReverts) => {
  const own = { version: '2.0.0', operatorNamespace: 'lumigo', injectorImage: 'autotrace:2', telemetryProxyUrl: '' };
  expect(toInjector({ ...assumedSettings, ...own, rolloutStrategy })).toMatchObject({ ignoresReverts });
});
