import { issuePair } from './issue.ts';

/** The process that rotation.ts starts. It prints the pair as JSON. */
const [host = '', days = '', now = ''] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await issuePair(host, Number(days), Number(now))));
