import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Identity, WatchPosition } from './watch-position.ts';

function positionOver(held: readonly Identity[] = []) {
  const told: string[] = [];
  const position = new WatchPosition({
    subject: '/api/v1/pods',
    handler: {
      upsert: ({ metadata: { namespace = '', name, uid } }, isListed) =>
        told.push(`${isListed ? '*' : '+'}${namespace}/${name}/${uid}`),
      delete: ({ namespace, name, uid }) => told.push(`-${namespace}/${name}/${uid}`),
      known: () => held,
    },
    onHandlerError: (error) => expect(error).toBeUndefined(),
    onSynced: () => told.push('synced'),
  });
  return { position, told };
}

const all = ['x', 'y'].flatMap((name) => ['1', '2', '3'].map((life) => ({ namespace: 'a', name, uid: name + life })));
const some = fc.subarray(all);

describe('a list', () => {
  it('reports the held objects that it lacks at its end, also several of one name', () => {
    fc.assert(
      fc.property(some, some, (held, shown) => {
        const { position, told } = positionOver(held);
        position.beginList();
        for (const each of shown) position.show({ metadata: { ...each, resourceVersion: '1' } });
        position.completeList('9');
        const listed = shown.map(({ name, uid }) => `*a/${name}/${uid}`);
        const gone = held.filter((each) => !shown.includes(each)).map(({ name, uid }) => `-a/${name}/${uid}`);
        expect([told, position.version]).toEqual([[...listed, ...gone, 'synced'], '9']);
      }),
    );
  });
});

describe('a line of a watch', () => {
  const object = { metadata: { name: 'a', uid: '1', resourceVersion: '9' } };
  const bookmark = (resourceVersion: string, annotations = {}) => ({
    type: 'BOOKMARK',
    object: { metadata: { resourceVersion, annotations } },
  });

  it.each([
    ['ADDED', '+/a/1'],
    ['MODIFIED', '+/a/1'],
    ['DELETED', '-/a/1'],
  ])('%s', (type, expected) => {
    const { position, told } = positionOver();
    position.receive({ type, object });
    expect([told, position.version]).toEqual([[expected], '9']);
  });

  it('a bookmark moves the position, and only the last one of a streamed list ends that', () => {
    const { position, told } = positionOver([{ namespace: '', name: 'b', uid: '2' }]);
    position.beginList();
    position.receive({ type: 'ADDED', object });
    position.receive(bookmark('10'));
    expect([told, position.version, position.listing]).toEqual([['*/a/1'], undefined, true]);
    position.receive(bookmark('11', { 'k8s.io/initial-events-end': 'true' }));
    position.receive(bookmark('12'));
    expect([told, position.version, position.listing]).toEqual([['*/a/1', '-/b/2', 'synced'], '12', false]);
  });

  const getFailure = (line: unknown): unknown => {
    try {
      return void positionOver().position.receive(line);
    } catch (error) {
      return error;
    }
  };

  it('throws the Status of an ERROR', () => {
    const status = { kind: 'Status', metadata: {}, code: 410, reason: 'Expired', message: 'too old' };
    expect(getFailure({ type: 'ERROR', object: status })).toMatchObject({
      status: 410,
      reason: 'Expired',
      message: 'too old',
    });
  });

  it.each([[null], [{}], [{ type: 'NEW', object }], [{ type: 'ADDED' }], ['text']])(
    'throws if it cannot be parsed: %j',
    (line) => expect(getFailure(line)).toMatchObject({ name: 'ApiError', status: 500 }),
  );
});
