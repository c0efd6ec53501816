/** Plain `node:http` (issue 6 items 2 and 4). */
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { config } from './_auth.ts'
import { fieldsOf, probe, testFamily } from './_family.ts'
import { serve } from './_http.ts'

testFamily('node', (options) => {
  const auth = createAuth(config(options)).use(probe).use(nodeBinding())
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<unknown> => {
    const json = (value: unknown): ServerResponse => res.setHeader('content-type', 'application/json').end(JSON.stringify(value))
    switch (new URL(req.url ?? '/', 'http://localhost').pathname) {
      case '/page':
        return json(await auth.node.session(req, res))
      case '/guarded': {
        const session = await auth.node.requireSession(req, res)
        return session && json(session)
      }
      case '/login':
        return auth.node.signIn(req, res, 'credentials', { fields: await fieldsOf(req), redirectTo: '/in' })
      case '/logout':
        return auth.node.signOut(req, res, { redirectTo: '/out' })
      default:
        return (await auth.node.handler(req, res)) || res.writeHead(404).end('the host')
    }
  }
  return serve((req, res) => void answer(req, res).catch(() => res.writeHead(500).end()))
})
