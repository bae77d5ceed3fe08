// Serves the route handlers of a Next.js app without Next.js. In: its folder, and PORT. Each POST is handed to the handler of its path as a
// Request, with the header that Next.js adds. Run it with tsx: the handlers are TypeScript.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { Readable } from 'node:stream'

const [folder = ''] = process.argv.slice(2)

async function answerTo(incoming: IncomingMessage): Promise<Response> {
  const { POST } = await import(join(folder, 'app', incoming.url ?? '', 'route.ts'))
  const headers = new Headers({ 'x-forwarded-for': incoming.socket.remoteAddress ?? '' })
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value))
  const body = Readable.toWeb(incoming) as ReadableStream
  return POST(new Request(`http://localhost${incoming.url}`, { method: 'POST', headers, body, duplex: 'half' }))
}

const server = createServer(async (incoming, outgoing) => {
  try {
    const answer = await answerTo(incoming)
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  } catch (error) {
    console.error(error)
    outgoing.writeHead(500).end()
  }
})
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on port ${(server.address() as AddressInfo).port}`)
})
