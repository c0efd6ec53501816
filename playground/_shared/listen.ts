/** Servers on loopback: a wished port or, when it is taken, a free one. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Port the server got. Loopback only: a playground is not for the network. */
export async function listen(server: Server, wished: number): Promise<number> {
  try {
    await bind(server, wished)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    await bind(server, 0)
  }
  return (server.address() as AddressInfo).port
}

/** Ends a server and the connections that keep it open, event streams for example. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

function bind(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}
