import { expect, it } from '@jest/globals';
import { passagesOfPage } from './page.ts';

const page = `# Rotate a token

Change the \`Secret\`
of [your namespace](x.md), see https://example.com. ![A picture](x.svg)

<!-- alerts: generated -->
| generated | table |
|---|---|
<!-- /alerts -->

- Wait.
- Look:
  > A quote
  > of two lines

| alert | cause |
|---|---|
| a | **b** c |
| d | e |

\`\`\`sh
nobody reads this; or this; or this
\`\`\`
The end.
`;

it('reads headings, paragraphs, items, quotes and cells, and no code or generated parts', () => {
  expect(passagesOfPage(page, 'page').map(({ line, text }) => [line, text.trim()])).toEqual([
    [1, 'Rotate a token'],
    [3, 'Change the x\nof your namespace, see x.'],
    [11, 'Wait.'],
    [12, 'Look:'],
    [13, 'A quote\nof two lines'],
    [16, 'alert'],
    [16, 'cause'],
    [18, 'a'],
    [18, 'b c'],
    [19, 'd'],
    [19, 'e'],
    [24, 'The end.'],
  ]);
});

it('keeps the original text beside the plain text', () => {
  expect(passagesOfPage('See `a.test.ts`.', 'userPage')).toEqual([
    { kind: 'userPage', text: 'See x.', raw: 'See `a.test.ts`.', line: 1 },
  ]);
});
