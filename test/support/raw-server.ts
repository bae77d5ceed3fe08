// A TCP server without a protocol: tests use it to send what a correct server would not send.
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface RawServer {
  port: number
  connections(): number
  close(): Promise<void>
}

export async function startRawServer(onConnection: (socket: Socket) => void): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    // Tests break connections on purpose.
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
