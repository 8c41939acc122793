import { describe, expect, it } from '@jest/globals';
import { whyTooOld } from './pod-mode.ts';

describe('Pod mode', () => {
  it.each([
    ['1', '35', 'v1.35.4'],
    ['1', '34+', 'v1.34.4-eks-1'],
  ])('is refused on an older API server: %s.%s', (major, minor, gitVersion) => {
    expect(whyTooOld({ major, minor, gitVersion })).toBe(
      `It needs Kubernetes 1.36 or newer, and the API server is ${gitVersion}. Upgrade the cluster`,
    );
  });

  it.each([
    ['1', '36', 'v1.36.3'],
    ['1', '36+', 'v1.36.1-gke.3'],
    ['1', '37', 'v1.37.0'],
    ['2', '0', 'v2.0.0'],
  ])('is offered on %s.%s', (major, minor, gitVersion) => {
    expect(whyTooOld({ major, minor, gitVersion })).toBeUndefined();
  });
});
