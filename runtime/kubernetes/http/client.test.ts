import { describe, expect, it } from '@jest/globals';
import { guarded } from './client.ts';

describe('guarded', () => {
  it('tests the version that was read before it changes anything', () =>
    expect(guarded('41', [{ op: 'remove', path: '/spec/a' }])).toEqual({
      kind: 'json',
      operations: [
        { op: 'replace', path: '/metadata/resourceVersion', value: '41' },
        { op: 'remove', path: '/spec/a' },
      ],
    }));
});
