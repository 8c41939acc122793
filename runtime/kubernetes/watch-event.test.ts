import { describe, expect, it } from '@jest/globals';
import { readWatchEvent } from './watch-event.ts';

const object = { metadata: { name: 'a', uid: '1', resourceVersion: '9' } };
const read = (line: unknown) => readWatchEvent(line, '/api/v1/pods');

describe('readWatchEvent', () => {
  it.each([
    ['ADDED', 'upsert'],
    ['MODIFIED', 'upsert'],
    ['DELETED', 'delete'],
  ])('%s', (type, kind) => expect(read({ type, object })).toEqual({ kind, object }));

  it('tells the bookmark that ends a streamed list from the others', () => {
    expect(read({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } })).toEqual({
      kind: 'bookmark',
      resourceVersion: '9',
      complete: false,
    });
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    expect(read({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations } } })).toMatchObject({
      complete: true,
    });
  });

  it('reads the Status of an ERROR', () =>
    expect(
      read({
        type: 'ERROR',
        object: { kind: 'Status', metadata: {}, code: 410, reason: 'Expired', message: 'too old' },
      }),
    ).toMatchObject({ kind: 'error', error: { status: 410, reason: 'Expired', message: 'too old' } }));

  it.each([[null], [{}], [{ type: 'NEW', object }], [{ type: 'ADDED' }], ['text']])(
    'skips nothing that it does not understand: %j',
    (line) => expect(read(line)).toMatchObject({ kind: 'error', error: { status: 500 } }),
  );
});
