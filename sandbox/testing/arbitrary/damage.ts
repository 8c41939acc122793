import fc from 'fast-check';

const key = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', ''),
  fc.constantFrom(
    'metadata',
    'labels',
    'annotations',
    'spec',
    'template',
    'containers',
    'env',
    'name',
    'value',
    'kept',
  ),
  fc.string({ maxLength: 6, unit: 'binary' }),
);

/** Any JSON as text, in which `__proto__` is an ordinary key. */
export const anyJson: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .oneof(fc.string({ unit: 'binary' }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean())
      .map((each) => JSON.stringify(each)),
    fc.constantFrom(
      'null',
      '[]',
      '{}',
      '{"__proto__":{"polluted":true}}',
      '{"constructor":{"prototype":{"polluted":true}}}',
    ),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  ),
})).value;

export const damaged = (whole: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(whole, fc.array(fc.tuple(fc.nat(), key, fc.option(anyJson, { nil: undefined })), { maxLength: 3 }))
    .map(([object, changes]) => {
      const root = JSON.parse(JSON.stringify({ object })) as Record<string, unknown>;
      for (const [place, name, text] of changes) damage(root, place, name, text);
      return root['object'];
    });

type Place = readonly [parent: object, member: string];

function placesIn(root: object): Place[] {
  const places: Place[] = [];
  const open: unknown[] = [root];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    for (const [member, value] of Object.entries(node)) {
      places.push([node, member]);
      open.push(value);
    }
  }
  return places;
}

function damage(root: object, place: number, name: string, text: string | undefined): void {
  const places = placesIn(root);
  const [parent, member] = places[place % places.length] ?? [root, 'object'];
  const at = place % 3 === 0 && !Array.isArray(parent) && parent !== root ? name : member;
  if (text === undefined && parent !== root) Reflect.deleteProperty(parent, at);
  else {
    // As in JSON.parse, `__proto__` is an ordinary member.
    const value: unknown = JSON.parse(text ?? 'null');
    Object.defineProperty(parent, at, { value, enumerable: true, configurable: true, writable: true });
  }
}
