import { lumigo } from '../../runtime/contract.ts';
import { all, fieldOr, sameBut, sameItemsBut, text, type Cel } from './cel.ts';

type Excepted = (item: Cel) => Cel;

const nothing: Excepted = () => 'false';

/** Returns the condition that a key of metadata has the operator's own prefix. */
export const isOurKey: Excepted = (key) => `${key}.startsWith(${text(`${lumigo.group}/`)})`;

/** Returns the condition that an item is one of the operator's own finalizers. */
export const isFinalizer =
  (finalizer: string): Excepted =>
  (item) =>
    `(${item} == ${text(finalizer)})`;

/** Returns true if two maps in objects are equal, apart from the keys for which `excepted` is true. A missing map is empty. */
export const sameMap = (object: Cel, before: Cel, path: string, excepted: Excepted): Cel =>
  sameBut(fieldOr(object, path, '{}'), fieldOr(before, path, '{}'), excepted);

interface Changes {
  readonly labels?: Excepted;
  readonly annotations?: Excepted;
  readonly finalizers?: Excepted;
  readonly ownerReferences?: Excepted;
}

/**
 * Returns true if the metadata that a client can change is equal, apart from the changes: of labels and annotations by key, of finalizers and
 * owner references by item. By default there are none.
 */
export const sameMetadata = (object: Cel, before: Cel, changes: Changes = {}): Cel =>
  all(
    ...(['labels', 'annotations'] as const).map((field) =>
      sameMap(object, before, `metadata.${field}`, changes[field] ?? nothing),
    ),
    ...(['finalizers', 'ownerReferences'] as const).map((field) =>
      sameItemsBut(
        fieldOr(object, `metadata.${field}`, '[]'),
        fieldOr(before, `metadata.${field}`, '[]'),
        changes[field] ?? nothing,
      ),
    ),
  );
