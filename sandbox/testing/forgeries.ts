import { annotations, labels } from '../../runtime/contract.ts';

const secret = 'secret=lumigo-credentials/token traces=true logs=false';
const key = '0123456789abcdef';

/** Valid texts of the operator's annotation, which a tenant can write as well. */
export const forgedTexts: readonly string[] = [
  `added 2099-01-01T00:00:00.000Z by controller; ${secret}`,
  `added 2001-01-01T00:00:00.000Z by controller; ${secret} attempt=9999`,
  `updated 2099-01-01T00:00:00.000Z by webhook; ${secret} keep`,
  `adopted never by webhook; ${secret}`,
  `reverted 2099-01-01T00:00:00.000Z by controller; cause=InjectorImage attempt=9999 key=${key}: forged`,
  `reverted 2001-01-01T00:00:00.000Z by controller; cause=Crash attempt=1 key=${key}: forged`,
  'neither',
];

export const forgery = (number: number): { readonly text: string; readonly body: object } => {
  const text = forgedTexts[number % forgedTexts.length] ?? '';
  const label = number % 2 === 0 ? { labels: { [labels.rollout]: 'reverted' } } : {};
  return { text, body: { metadata: { annotations: { [annotations.instrumentation]: text }, ...label } } };
};
