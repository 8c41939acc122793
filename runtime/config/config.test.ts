import { expect, it } from '@jest/globals';
import { assumedSettings, toInjector } from './config.ts';

it.each(['progressive', 'immediate'] as const)('the strategy %s decides how long a revert holds', (strategy) => {
  const own = { version: '2.0.0', operatorNamespace: 'lumigo', injectorImage: 'autotrace:2', telemetryProxyUrl: '' };
  expect(toInjector({ ...assumedSettings, ...own, rolloutStrategy: strategy })).toMatchObject({ strategy });
});
