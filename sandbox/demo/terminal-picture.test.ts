import { describe, expect, it } from '@jest/globals';
import { terminalPicture } from './terminal-picture.ts';

describe('the picture of a terminal', () => {
  it('has every line, with its sign in its color', () => {
    const picture = terminalPicture('Demo', ['The demo', '', '   1.0 s  ✔ cart   instrumented']);
    expect(picture.match(/<text /g)).toHaveLength(3);
    expect(picture).toContain('<tspan fill="#98c379">✔</tspan> cart   instrumented</text>');
  });

  it('shows markup as text, and cuts long lines', () => {
    const picture = terminalPicture('<a>', [`<script>&${'x'.repeat(200)}`]);
    expect(picture).toContain('<title>&lt;a&gt;</title>');
    expect(picture).toMatch(/>&lt;script&gt;&amp;x{108}…</);
  });
});
