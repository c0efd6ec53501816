import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { codeOf, config } from './auth.ts'
import { account, assets, home, members } from './site.ts'

const auth = createAuth(config).use(nodeBinding())
await auth.ready()

type Route = (req: IncomingMessage, res: ServerResponse) => Promise<unknown>
const routes: Record<string, Route> = {
  'GET /': async (req, res) => send(res, 'text/html', home(await auth.node.session(req, res))),
  'GET /protected': guarded((session, res) => send(res, 'text/html', members(session))),
  'GET /account': guarded((session, res) => send(res, 'text/html', account(session))),
  'POST /sign-in': signIn,
  'POST /sign-out': (req, res) => auth.node.signOut(req, res, { redirectTo: '/' }),
  'GET /page': async (req, res) => send(res, 'application/json', JSON.stringify(await auth.node.session(req, res))),
  'GET /guarded': guarded((session, res) => send(res, 'application/json', JSON.stringify(session))),
  'POST /login': async (req, res) => auth.node.signIn(req, res, 'credentials', { fields: await fieldsOf(req), redirectTo: '/in' }),
  'POST /logout': (req, res) => auth.node.signOut(req, res, { redirectTo: '/out' }),
}

createServer(async (req, res) => {
  try {
    if (await auth.node.handler(req, res)) return
    const { pathname } = new URL(`http://localhost${req.url}`)
    const asset = assets[pathname]
    if (asset) return send(res, asset.type, asset.body)
    const route = routes[`${req.method} ${pathname.replace(/^(\/sign-in)\/.*/, '$1')}`]
    await (route ? route(req, res) : send(res, 'text/plain', 'Not found', 404))
  } catch (error) {
    console.error(error)
    if (!res.headersSent) send(res, 'text/plain', 'The server has written down why.', 500)
  }
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1')

function guarded(answer: (session: NonNullable<Awaited<ReturnType<typeof auth.node.requireSession>>>, res: ServerResponse) => void): Route {
  return async (req, res) => {
    const session = await auth.node.requireSession(req, res)
    if (session) answer(session, res)
  }
}

async function signIn(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const fields = await fieldsOf(req)
  try {
    await auth.node.signIn(req, res, req.url?.split('/')[2], { fields, redirectTo: '/' })
  } catch (error) {
    send(res, 'text/html', home(null, codeOf(error)), 401)
  }
}

function send(res: ServerResponse, type: string, body: string, status = 200): void {
  res.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(body)
}

async function fieldsOf(req: IncomingMessage): Promise<Record<string, string>> {
  let text = ''
  for await (const chunk of req) text += String(chunk)
  return Object.fromEntries(new URLSearchParams(text))
}
