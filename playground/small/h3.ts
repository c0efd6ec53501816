import { createAuth, type Session } from 'authkernel'
import { h3Binding } from 'authkernel/bindings/h3'
import { H3, serve } from 'h3'
import { codeOf, config } from './auth.ts'
import { account, assets, home, members } from './site.ts'

declare module 'h3' {
  interface H3EventContext {
    /** Set by `auth.h3.middleware` and `requireSession`. */
    session?: Session | null
  }
}

const auth = createAuth(config).use(h3Binding())
await auth.ready()

const page = (markup: string, status = 200): Response =>
  new Response(markup, { status, headers: { 'content-type': 'text/html; charset=utf-8' } })
const fieldsOf = async (request: Request): Promise<Record<string, unknown>> => Object.fromEntries(await request.formData())

const app = new H3()
app.all('/auth/**', auth.h3.handler)

for (const [path, { type, body }] of Object.entries(assets)) app.get(path, () => new Response(body, { headers: { 'content-type': type } }))
app.get('/', async (event) => page(home(await auth.h3.session(event))))
app.get('/protected', async (event) => (await auth.h3.requireSession()(event)) ?? page(members(event.context.session!)))
app.get('/account', async (event) => (await auth.h3.requireSession()(event)) ?? page(account(event.context.session!)))

app.post('/sign-in/:provider', async (event) => {
  const fields = await fieldsOf(event.req)
  try {
    return await auth.h3.signIn(event, event.context.params?.provider, { fields, redirectTo: '/' })
  } catch (error) {
    return page(home(null, codeOf(error)), 401)
  }
})
app.post('/sign-out', (event) => auth.h3.signOut(event, { redirectTo: '/' }))

app.get('/page', async (event) => Response.json(await auth.h3.session(event)))
app.get('/guarded', async (event) => (await auth.h3.requireSession()(event)) ?? Response.json(event.context.session))
app.post('/login', async (event) => auth.h3.signIn(event, 'credentials', { fields: await fieldsOf(event.req), redirectTo: '/in' }))
app.post('/logout', (event) => auth.h3.signOut(event, { redirectTo: '/out' }))

serve(app, { hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
