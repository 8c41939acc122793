import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toDocument } from '../../infra/constructs/configuration.ts';
import {
  flag,
  maps,
  oneOf,
  readConfiguration,
  readForeign,
  setting,
  text,
  texts,
  variables,
  wholeNumber,
} from './document.ts';
import { requireOwn } from './version.ts';

const kinds = {
  name: setting('name', text),
  port: wholeNumber,
  secure: flag,
  strategy: oneOf('progressive', 'manual'),
  names: texts,
  places: maps<{ readonly name: string }>(),
};

const values = fc.record({
  name: fc.string({ unit: 'binary' }),
  port: fc.maxSafeInteger(),
  secure: fc.boolean(),
  strategy: fc.constantFrom('progressive', 'manual'),
  names: fc.array(fc.string()),
  places: fc.array(fc.record({ name: fc.string() })),
});

const podName = 'manager-0';
const read = (document: string) =>
  readConfiguration(kinds, { [variables.config]: document, [variables.podName]: podName }, '0.1.0');

const sound = { name: 'lumigo', port: 8443, secure: true, strategy: 'manual', names: [], places: [] } as const;

describe('the configuration', () => {
  it('is the one in its document', () => {
    fc.assert(fc.property(values, (value) => expect(read(toDocument(value))).toEqual({ ...value, podName })));
  });

  it('has no $, so that Kubernetes expands nothing in it', () => {
    const name = 'prod$$eu $(PATH) \\$';
    expect(toDocument({ name })).not.toContain('$');
    expect(read(toDocument({ ...sound, name }))).toMatchObject({ name });
  });

  it('has a line for each value', () => {
    expect(toDocument({ names: ['a', 'b'], port: 1 })).toBe('{\n  "names": ["a","b"],\n  "port": 1\n}');
  });

  it.each([
    ['a value of another kind', { ...sound, port: '8443' }, 'port must be a whole number'],
    ['no whole number', { ...sound, port: 1.5 }, 'port must be a whole number'],
    ['a text for true', { ...sound, secure: 'true' }, 'secure must be true or false'],
    ['none of a few', { ...sound, strategy: 'fast' }, 'strategy must be one of progressive, manual'],
    ['no list', { ...sound, names: 'a,b' }, 'names must be a list of texts'],
    ['a number among texts', { ...sound, names: ['a', 1] }, 'names must be a list of texts'],
    ['a text among maps', { ...sound, places: ['shop'] }, 'places must be a list of maps'],
    ['a value that is missing', { ...sound, name: undefined }, 'name must be a text'],
    ['an unknown value', { ...sound, porrt: 1 }, 'porrt is unknown'],
    ['two of them', { ...sound, port: true, porrt: 1 }, 'port must be a whole number; porrt is unknown'],
    ['a list for a map', [], 'it is not a map in JSON'],
  ])('is refused in one sentence for %s', (_case, document, problem) => {
    expect(() => read(JSON.stringify(document))).toThrow(
      `LUMIGO_CONFIG is not what this version of the operator reads: ${problem}. Install its manifests again.`,
    );
  });

  it('is read as far as a command needs it if it is of another version', () => {
    const foreign = { name: 'lumigo', later: true, secure: undefined };
    expect(readForeign({ name: kinds.name, secure: flag }, JSON.stringify(foreign), { secure: false })).toMatchObject({
      name: 'lumigo',
      secure: false,
    });
    expect(() => readForeign({ name: kinds.name }, '{"name": 1}', {})).toThrow(
      "the operator's settings cannot be read: name must be a text. Use a lumigo of the operator's version",
    );
  });

  it('is refused if it is of another release than the program', () => {
    expect(() => requireOwn('0.1.1', '0.1.0')).toThrow(
      'This program is 0.1.0, but its settings are of 0.1.1. Renew the tag and digest of controllerManager.manager.image',
    );
    expect(() => requireOwn('0.2.0', '0.2.0-rc.1')).toThrow('of 0.2.0. ');
    for (const version of ['0.1.0', '0.1.0+2', undefined]) expect(() => requireOwn(version, '0.1.0')).not.toThrow();
    expect(() => requireOwn('0.1.1', 'dev')).not.toThrow();
  });

  it('is read by a program that accepts settings of any release', () => {
    const document = {
      [variables.config]: JSON.stringify({ version: '0.1.1', added: true }),
      [variables.podName]: podName,
    };
    const version = setting('version', text);
    expect(() => readConfiguration({ version }, document, '0.1.0')).toThrow('This program is 0.1.0');
    expect(readConfiguration({ version }, document, 'dev')).toEqual({ version: '0.1.1', added: true, podName });
  });

  it('is refused if it is not JSON, and the error does not contain it', () => {
    expect(() => read('{"token": "t_')).toThrow(/: it is not a map in JSON\. Install/);
  });

  it('needs the name of the pod', () => {
    expect(() => readConfiguration(kinds, { [variables.config]: JSON.stringify(sound) })).toThrow(
      /: LUMIGO_POD_NAME is not set\. /,
    );
  });

  it('says in one sentence where the program runs if there is none [F83]', () => {
    expect(() => readConfiguration(kinds, { PATH: '/bin' })).toThrow(
      /^This program runs only in the pod of the Lumigo operator, .*lumigo check.*--help[^\n]*$/,
    );
  });
});
