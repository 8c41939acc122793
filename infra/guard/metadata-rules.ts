import { lumigo } from '../../runtime/contract.ts';
import { all, fieldOr, sameBut, sameItemsBut, text, type Cel } from '../constructs/cel.ts';

type Excepted = (item: Cel) => Cel;

export const isOurKey: Excepted = (key) => `${key}.startsWith(${text(`${lumigo.group}/`)})`;

export const isFinalizer =
  (finalizer: string): Excepted =>
  (item) =>
    `(${item} == ${text(finalizer)})`;

type Field = 'labels' | 'annotations' | 'finalizers' | 'ownerReferences';

/** Returns the condition that only the given metadata differ: labels and annotations by key, others by item. By default none may. */
export const sameMetadata = (object: Cel, before: Cel, changes: Partial<Record<Field, Excepted>> = {}): Cel => {
  const field = (name: Field, empty: Cel, same: typeof sameBut): Cel => {
    const after = fieldOr(object, `metadata.${name}`, empty);
    const former = fieldOr(before, `metadata.${name}`, empty);
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
