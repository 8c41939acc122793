import { describe, expect, it } from '@jest/globals';
import { synthesize } from '../operator.ts';
import { parseSettings, type Settings } from '../settings/settings.ts';

const everything = { updater: { mode: 'upgrade' }, clusterCollection: { metrics: { enabled: true } } };
const getImages = (settings: Settings): readonly string[] => {
  const text = JSON.stringify(synthesize(settings, 'Helm'));
  const containers = [...text.matchAll(/"image":"([^"]+)"/g)].map(([, image = '']) => image);
  const injector = [...text.matchAll(/\\"injectorImage\\": \\"([^"\\]+)/g)].map(([, image = '']) => image);
  return [...containers, ...injector];
};

describe('images by default', () => {
  it('have a registry in their name, because CRI-O refuses a name that several registries may have', () => {
    const images = getImages(parseSettings(everything));
    expect(images.some((image) => image.includes('node-exporter'))).toBe(true);
    expect(images.filter((image) => !/^([^/]*\.[^/]*|localhost)\//.test(image))).toEqual([]);
  });
});

describe('the prefix of images [F52]', () => {
  it('is in front of every image that a node pulls because of this installation', () => {
    const prefix = 'registry.example:5000/mirror/';
    const own = getImages(parseSettings(everything));
    const mirrored = getImages(parseSettings({ ...everything, imagePrefix: prefix }));
    expect(own.some((image) => image.includes('lumigo-autotrace'))).toBe(true);
    expect(own.some((image) => image.includes('updater'))).toBe(true);
    expect(mirrored).toEqual(own.map((image) => `${prefix}${image}`));
  });

  it.each([
    'registry.example',
    '/mirror/',
    'https://registry.example/',
    'registry.example//',
    'registry.example/Mirror/',
  ])('is refused if a name after it would be invalid: %s', (imagePrefix) =>
    expect(() => parseSettings({ imagePrefix })).toThrow(/imagePrefix .*must be a registry, or a folder in one/),
  );
});
