import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { collection, settings } from '../../sandbox/testing/arbitrary/telemetry-state.ts';
import { fuzz, fuzzTimeoutMs } from '../../sandbox/testing/fuzz.ts';
import { serialize } from '../node-collector/common-parts.ts';
import { render } from './render.ts';

/** These characters end a text in JSON, YAML or the collector's own language, or begin a variable. */
const hostile = fc.oneof(
  fc.constantFrom('"', '\\', '${env:HOME}', '$$', '\n- x: y', '") where true\nset(body, "', '}}', '# x', '\u2028'),
  fc.string({ unit: 'binary' }),
);

const clusterNames = hostile.filter((name) => name !== '');

it(
  "fuzz: a name changes no more of the collector's configuration than the text that has it",
  () =>
    fc.assert(
      fc.property(settings, collection, clusterNames, hostile, (given, collected, clusterName, namespace) => {
        const namespaces = collected.namespaces.map((each, index) =>
          index === 0 ? { ...each, name: namespace } : each,
        );
        const rendered = render({ ...given, clusterName }, { ...collected, namespaces, initial: [] });
        const text = serialize(rendered);
        // The collector reads two dollar signs as one, and one as the beginning of a variable.
        expect(text.replaceAll('$$', '')).not.toContain('$');
        const plain = text.replaceAll('$$', '$');
        expect(parse(plain)).toEqual(JSON.parse(JSON.stringify(rendered)));
        // The API server allows no such characters in a namespace's name, but a cluster's name may have them.
        const harmless = render({ ...given, clusterName: 'c' }, { ...collected, namespaces, initial: [] });
        expect(withoutName(rendered, clusterName)).toEqual(withoutName(harmless, clusterName));
      }),
      // A run takes longer than those of other properties, because it parses YAML.
      { ...fuzz, numRuns: Math.ceil(fuzz.numRuns / 3) },
    ),
  fuzzTimeoutMs,
);

const withoutName = (configuration: object, name: string): unknown =>
  JSON.parse(JSON.stringify(configuration), (_key, value: unknown) => (value === name ? 'c' : value));
