// A provider that accepts every message: at once, or below /after/400 after 400 ms. Below /hang it never answers. Reports how many messages
// came by each path, and when.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const AFTER = /^\/after\/(\d+)\//

const arrivals = new Map<string, number[]>()

const server = createServer((req, res) => {
  const path = req.url ?? ''
  req.on('data', () => {})
  req.on('end', () => {
    if (path.startsWith('/arrivals')) {
      const times = arrivals.get(path.slice('/arrivals'.length)) ?? []
      const [from, to] = [Number(req.headers['x-from'] ?? 0), Number(req.headers['x-to'] ?? 0)]
      const ms = (times[to - 1] ?? 0) - (times[from] ?? 0)
      res.end(JSON.stringify({ count: times.length, ms, at: performance.now() }))
      return
    }
    const times = arrivals.get(path) ?? []
    arrivals.set(path, times)
    times.push(performance.now())
    if (path.startsWith('/hang')) return
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
