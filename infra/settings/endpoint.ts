import { z } from 'zod';
import { httpUrl, section } from './leaves.ts';

/** Where Lumigo is. */
export const endpoint = section({
  otlp: section({
    url: httpUrl()
      .default('https://ga-otlp.lumigo-tracer-edge.golumigo.com')
      .describe('Where traces and logs go, by OTLP over HTTP.'),
    logs_url: z
      .union([z.literal(''), httpUrl()], {
        error: 'must be an http:// or https:// URL without a slash at its end, or empty',
      })
      .default('')
      .describe('Where logs go, Kubernetes events and objects included, if not there; empty: there.'),
  }),
});
