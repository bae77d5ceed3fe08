// A provider that accepts every message: at once, or below /after/400 after 400 ms. Reports how many messages came by each path so far.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const AFTER = /^\/after\/(\d+)\//

const arrivals = new Map<string, number>()

const server = createServer((req, res) => {
  const path = req.url ?? ''
  req.on('data', () => {})
  req.on('end', () => {
    if (path.startsWith('/arrivals')) {
      res.end(JSON.stringify({ count: arrivals.get(path.slice('/arrivals'.length)) ?? 0, at: performance.now() }))
      return
    }
    arrivals.set(path, (arrivals.get(path) ?? 0) + 1)
    const accept = () => res.writeHead(202, { 'content-type': 'application/json' }).end('{}')
    const [, afterMs] = AFTER.exec(path) ?? []
    if (afterMs === undefined) accept()
    else setTimeout(accept, Number(afterMs))
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
