// Serves an app on a free port of this machine until a test closes it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { App } from '../../infra/http/listen.ts'

export interface ServedApp {
  port: number
  url: string
  close(): Promise<void>
}

export async function serveApp(app: App): Promise<ServedApp> {
  const server = createServer(app.callback())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
