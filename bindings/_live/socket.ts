/** WebSockets of every kind, and upgrades that are rejected. */
import type { Live } from './watch.ts'

/** The parts of a WebSocket that are used here: those of `ws`, Deno, workers and Bun. */
export interface SocketLike {
  close(code?: number, reason?: string): void
  addEventListener?(type: 'close', listener: () => void): void
  /** Of `ws`: ends it without the other side. */
  terminate?(): void
}
/** The socket of an upgrade of Node. */
export interface UpgradeSocket {
  end(text: string): unknown
  destroyed?: boolean
}

const sessionEnded = 4401
/** Milliseconds for a client to answer the close; it could go on to send meanwhile. */
const patience = 1000

/** Closes the socket when the session ends. */
export function tieSocket(live: Live, socket: SocketLike): void {
  const close = (): void => {
    socket.close(sessionEnded, 'session ended')
    if (!socket.terminate) return
    const timer = setTimeout(() => socket.terminate?.(), patience)
    if (typeof timer === 'object' && 'unref' in timer) timer.unref()
  }
  if (live.ended.aborted) return close()
  live.ended.addEventListener('abort', close, { once: true })
  socket.addEventListener?.('close', () => {
    live.ended.removeEventListener('abort', close)
    live.stop()
  })
}

/** Writes the response to the raw socket, and ends it. */
export async function rejectUpgrade(socket: UpgradeSocket, response: Response): Promise<void> {
  const body = await response.text()
  if (socket.destroyed) return
  const headers = new Headers(response.headers)
  headers.set('connection', 'close')
  headers.set('content-length', String(new TextEncoder().encode(body).length))
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`)
  socket.end(
    `HTTP/1.1 ${response.status} ${response.status === 403 ? 'Forbidden' : 'Unauthorized'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
  )
}
