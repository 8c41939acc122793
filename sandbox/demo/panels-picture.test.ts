import { describe, expect, it } from '@jest/globals';
import { panelsPicture, type Series } from './panels-picture.ts';

const draw = (unit: string, ...series: readonly Series[]) => panelsPicture('Panels', [{ title: 'One', unit, series }]);
const points = (...values: readonly number[]): Series['points'] => values.map((value, index) => [5 * index, value]);

describe('the picture of panels', () => {
  it.each([
    ['bytes', 84e6, '84MB'],
    ['s', 0.000099, '0.099ms'],
    ['d', 365, '365d'],
    ['ops', 17.61, '17.6/s'],
    ['short', 2, '2'],
  ])('has the highest value on its axis, in the unit %s', (unit, value, text) => {
    expect(draw(unit, { legend: 'a', points: points(0, value) })).toContain(`text-anchor="end">${text}</text>`);
  });

  it('ends a line where a value is missing', () => {
    const [first = [0, 0], ...rest] = points(1, 1, 1, 1);
    const gap = [first, ...rest.slice(1)];
    expect(draw('short', { legend: 'a', points: [first, ...rest] }).match(/d="M[^"]*M/g)).toBeNull();
    expect(draw('short', { legend: 'a', points: gap }).match(/d="M[^"]*M/g)).toHaveLength(1);
  });

  it('says that there is no data, and shows the end of a long legend as text', () => {
    expect(draw('short')).toContain('>No data</text>');
    const legend = 'controller-manager-5cd9698dcb-<b>';
    expect(draw('short', { legend, points: points(1) })).toContain('>…-manager-5cd9698dcb-&lt;b&gt;</text>');
  });
});
