import { expect, it } from '@jest/globals';
import { older, tracing } from '../../sandbox/testing/injection.ts';
import { inject } from './inject.ts';

const settings = { ...older, ...tracing };

/** How often a pod's volumes are looked at while it is injected; each is mounted above the injector's own folder. */
function looksAtVolumes(count: number): number {
  let looks = 0;
  const volume = (index: number) => ({
    get name() {
      looks += 1;
      return `v${index}`;
    },
    emptyDir: {},
  });
  const volumes = Array.from({ length: count }, (_, index) => volume(index));
  const volumeMounts = volumes.map((_, index) => ({ name: `v${index}`, mountPath: '/opt' }));
  const result = inject({ spec: { containers: [{ name: 'app', volumeMounts }], volumes } }, settings);
  expect(result).not.toHaveProperty('refused');
  return looks;
}

it('F20: a pod with twice the volumes takes twice the steps', () => {
  expect(looksAtVolumes(400)).toBeLessThanOrEqual(2 * looksAtVolumes(200));
});
