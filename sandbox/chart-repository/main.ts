import { serveFolder } from './serve-folder.ts';

const [folder = '', host = '', port = ''] = process.argv.slice(2);
await serveFolder(folder, { port: Number(port), host });
