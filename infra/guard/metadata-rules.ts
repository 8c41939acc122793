import { lumigo } from '../../runtime/contract.ts';
import { all, fieldOr, sameBut, sameItemsBut, text, type Cel } from '../constructs/cel.ts';

type Excepted = (item: Cel) => Cel;

/** Returns the condition that a key of metadata has the operator's own prefix. */
export const isOurKey: Excepted = (key) => `${key}.startsWith(${text(`${lumigo.group}/`)})`;

/** Returns the condition that an item is one of the operator's own finalizers. */
export const isFinalizer =
  (finalizer: string): Excepted =>
  (item) =>
    `(${item} == ${text(finalizer)})`;

type Field = 'labels' | 'annotations' | 'finalizers' | 'ownerReferences';

/**
 * Returns true if the metadata that a client can change is equal, apart from the changes: of labels and annotations by key, of finalizers and
 * owner references by item. By default there are none.
 */
export const sameMetadata = (object: Cel, before: Cel, changes: Partial<Record<Field, Excepted>> = {}): Cel => {
  const field = (name: Field, empty: Cel, same: typeof sameBut): Cel => {
    const [after, former] = [object, before].map((each) => fieldOr(each, `metadata.${name}`, empty)) as [Cel, Cel];
    const excepted = changes[name];
    return excepted === undefined ? `${after} == ${former}` : same(after, former, excepted);
  };
  return all(
    field('labels', '{}', sameBut),
    field('annotations', '{}', sameBut),
    field('finalizers', '[]', sameItemsBut),
    field('ownerReferences', '[]', sameItemsBut),
  );
};
