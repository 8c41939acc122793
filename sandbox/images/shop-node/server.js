// A shop's front, without a line of tracing in it.
const http = require('node:http');

const backend = process.env.BACKEND;

const server = http.createServer((request, response) => {
  if (request.url === '/healthz' || !backend)
    return response.end(JSON.stringify({ shop: 'node', preload: process.env.LD_PRELOAD }));
  http
    .get(backend, (answer) => {
      let body = '';
      answer.on('data', (chunk) => (body += chunk));
      answer.on('end', () => response.end(JSON.stringify({ shop: 'node', backend: JSON.parse(body) })));
    })
    .on('error', (error) => response.writeHead(502).end(error.message));
});

server.listen(8080, () => console.log('listening'));

// Ends only when nobody is being served any more.
process.on('SIGTERM', () => {
  setTimeout(() => server.close(() => process.exit(0)), Number(process.env.GRACE_MS ?? 0));
});
