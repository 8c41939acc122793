import type { PatchOperation } from '../../runtime/api/objects.ts';

type Parent = Record<string, unknown> | unknown[];

/** Applies RFC 6902 strictly: a missing value cannot be removed or replaced, and a list has no gaps. */
export function applyStrictly(document: unknown, operations: readonly PatchOperation[]): unknown {
  const root: Record<string, unknown> = { '': JSON.parse(JSON.stringify(document)) as unknown };
  for (const operation of operations) {
    const steps = ['', ...operation.path.split('/').slice(1).map(unescape)];
    const last = steps.pop() ?? '';
    const parent = steps.reduce<unknown>((node, step) => member(node as Parent, step), root) as Parent;
    const value: unknown = 'value' in operation ? JSON.parse(JSON.stringify(operation.value)) : undefined;
    if (Array.isArray(parent)) applyToList(parent, last, operation.op, value);
    else applyToMap(parent, last, operation.op, value);
  }
  return root[''];
}

const unescape = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');

function member(parent: Parent, step: string): unknown {
  if (!Object.hasOwn(parent, step)) throw new Error(`there is no '${step}'`);
  return (parent as Record<string, unknown>)[step];
}

function applyToList(list: unknown[], step: string, op: string, value: unknown): void {
  const index = op === 'add' && step === '-' ? list.length : Number(step);
  const end = op === 'add' ? list.length : list.length - 1;
  if (!Number.isInteger(index) || index < 0 || index > end) throw new Error(`no place '${step}' to ${op}`);
  if (op === 'add') list.splice(index, 0, value);
  else if (op === 'replace') list.splice(index, 1, value);
  else list.splice(index, 1);
}

function applyToMap(map: Record<string, unknown>, step: string, op: string, value: unknown): void {
  if (op !== 'add' && !Object.hasOwn(map, step)) throw new Error(`nothing at '${step}' to ${op}`);
  if (op === 'remove') delete map[step];
  else map[step] = value;
}
