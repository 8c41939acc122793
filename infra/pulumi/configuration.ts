import { Config, runtime, secret } from '@pulumi/pulumi';
import type { LumigoOperatorArgs } from './component.ts';
import { refusal } from './refusal.ts';
import { checkToken } from './tokens.ts';

/** Reads the configuration, and checks the token before an `Output` hides it. @throws RunError, which shows no value */
export function readConfiguration(): LumigoOperatorArgs {
  const { name } = new Config();
  // `Config.getObject` shows a value that it cannot read, and `Config.get` warns about a secret.
  const settings = runtime.getConfig(`${name}:settings`);
  const token = runtime.getConfig(`${name}:lumigoToken`);
  return {
    settings: settings === undefined ? undefined : parseJson(settings),
    lumigoToken: token === undefined ? undefined : secret(checkToken(token)),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal(
      "The stack's configuration 'settings' is not a map; set it in Pulumi.<stack>.yaml, as infra/README.md shows",
    );
  }
}
