import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';

/** Serves the files of a folder, as a chart repository does: `main.ts FOLDER ADDRESS PORT`. */
const [folder = '', host = '', port = ''] = process.argv.slice(2);

createServer((request, response) => {
  const file = join(folder, basename(new URL(request.url ?? '/', 'http://repository').pathname));
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return response.writeHead(404).end();
  createReadStream(file).pipe(response);
}).listen(Number(port), host);
