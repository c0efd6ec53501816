/** A server with a WebSocket and a stream of events, and the process of its own that two tests start: `node scripts/dev.mjs test/bindings/_live.ts`. */
import { type Auth, type AuthConfig, createAuth } from 'authkernel'
import { type LiveApi, liveBinding, type LiveOptions } from 'authkernel/bindings/live'
import { type AdminApi, adminPlugin } from 'authkernel/plugins/admin'
import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { bindingConfig } from 'authkernel/testing'
import { Kysely } from 'kysely'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { sendResponse } from '../../bindings/_shared/node-request.ts'

/** The instance of one process, over a file that several have open. */
export function openAuth(file: string, more: AuthConfig = {}, options: LiveOptions = { every: 0.5 }): Auth & AdminApi & { live: LiveApi } {
  const adapter = sqlAdapter(new Kysely({ dialect: libsqlDialect({ url: `file:${file}` }) }), { migrate: true })
  return createAuth(bindingConfig({ adapter, session: { strategy: 'database' }, ...more }))
    .use(adminPlugin({ can: ({ admin }) => admin.email === 'root@example.com' }))
    .use(liveBinding(options))
}

/** `/socket` echoes with the name of the user, `/events` sends one event and stays open. */
export async function serveLive(live: LiveApi): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new WebSocketServer({ noServer: true })
  const server = createServer((req, res) => {
    void live.open(req).then((found) => {
      if (found instanceof Response) return sendResponse(res, found)
      const source = new ReadableStream<string>({ start: (controller) => controller.enqueue(`data: ${found.session.user?.name}\n\n`) })
      return sendResponse(res, live.events(found, source))
    })
  })
  server.on('upgrade', (req, socket, head) => {
    void live.open(req).then((found) => {
      if (found instanceof Response) return live.reject(socket, found)
      sockets.handleUpgrade(req, socket, head, (ws) => {
        live.tie(found, ws)
        ws.on('message', (text) => ws.send(`${found.session.user?.name}: ${String(text)}`))
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const ws of sockets.clients) ws.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

if (process.env.LIVE_FILE !== undefined) {
  const { port } = await serveLive(openAuth(process.env.LIVE_FILE).live)
  process.send?.(port)
}
