/** The settings that no longer exist, by path, with the advice that completes their refusal. The chart refuses them with the same text. */
export const withdrawnSettings: Readonly<Record<string, string>> = {
  'webhook.clientCa': 'use networkPolicy.webhook.from to limit the clients of the webhook',
};

/** Returns the refusal of a setting that no longer exists, or undefined if there was none at this path. */
export function withdrawnSetting(path: string): string | undefined {
  const advice = withdrawnSettings[path];
  return advice === undefined ? undefined : `${path} is not a setting; ${advice}`;
}
