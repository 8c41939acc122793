import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Relist } from './relist.ts';

const identity = fc.record({
  namespace: fc.constantFrom('', 'a', 'b'),
  name: fc.constantFrom('x', 'y', 'z'),
  uid: fc.constantFrom('1', '2', '3'),
});
const oneOfEachName = fc.uniqueArray(identity, { selector: ({ namespace, name }) => `${namespace}/${name}` });
const told = (identities: Iterable<unknown>): string[] => [...identities].map((one) => JSON.stringify(one)).sort();

describe('Relist', () => {
  it('names exactly what is held and not shown: missing at the end, replaced as soon as its successor shows', () => {
    fc.assert(
      fc.property(oneOfEachName, oneOfEachName, (held, shown) => {
        const relist = new Relist(held);
        const replaced = shown.flatMap((object) => relist.see(object) ?? []);
        const gone = held.filter((one) => !shown.some((object) => JSON.stringify(object) === JSON.stringify(one)));
        expect(told([...replaced, ...relist.missing()])).toEqual(told(gone));
        for (const { uid, name, namespace } of replaced)
          expect(shown.find((object) => object.name === name && object.namespace === namespace)?.uid).not.toBe(uid);
      }),
    );
  });
});
