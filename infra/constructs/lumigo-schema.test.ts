import { expect, it } from '@jest/globals';
import { conditionTypes } from '../../runtime/api/conditions.ts';
import { lumigoSchema } from './lumigo-schema.ts';

it('describes each condition type, and no other [F82]', () => {
  const { status } = lumigoSchema['properties'] as { status: { properties: { conditions: { description: string } } } };
  const described = status.properties.conditions.description.matchAll(/(\w+): /g);
  expect([...described].map(([, type]) => type)).toEqual(Object.keys(conditionTypes));
});
