/** Settings that no longer exist, with the advice of their refusal. The chart refuses them with the same text. */
export const withdrawnSettings: Readonly<Record<string, string>> = {
  'webhook.clientCa': 'use networkPolicy.webhook.from to limit the clients of the webhook',
};

export function withdrawnSetting(path: string): string | undefined {
  const advice = Object.hasOwn(withdrawnSettings, path) ? withdrawnSettings[path] : undefined;
  return advice === undefined ? undefined : `${path} is not a setting; ${advice}`;
}
