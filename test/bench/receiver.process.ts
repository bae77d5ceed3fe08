// A client's backend that answers every POST with 200 at once, and never answers below /hang.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'

const server = createServer((request, response) => {
  request.resume()
  if (!request.url?.startsWith('/hang')) request.on('end', () => response.end())
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as AddressInfo).port })))
process.once('SIGTERM', () => process.exit(0))
