import { serve } from '@hono/node-server'
import { createAuth } from 'authkernel'
import { type HonoAuthEnv, honoBinding } from 'authkernel/bindings/hono'
import { Hono } from 'hono'
import { codeOf, config } from './auth.ts'
import { account, assets, home, members } from './site.ts'

const auth = createAuth(config).use(honoBinding())
await auth.ready()

const app = new Hono<HonoAuthEnv>()
app.use('/auth/*', auth.hono.handler)

for (const [path, { type, body }] of Object.entries(assets)) app.get(path, (c) => c.body(body, 200, { 'content-type': type }))
app.get('/', auth.hono.middleware, (c) => c.html(home(c.var.session)))
app.get('/protected', auth.hono.requireSession(), (c) => c.html(members(c.var.session!)))
app.get('/account', auth.hono.requireSession(), (c) => c.html(account(c.var.session!)))

app.post('/sign-in/:provider', async (c) => {
  const fields = await c.req.parseBody()
  try {
    return await auth.hono.signIn(c, c.req.param('provider'), { fields, redirectTo: '/' })
  } catch (error) {
    return c.html(home(null, codeOf(error)), 401)
  }
})
app.post('/sign-out', (c) => auth.hono.signOut(c, { redirectTo: '/' }))

app.get('/page', async (c) => c.json(await auth.hono.session(c)))
app.get('/guarded', auth.hono.requireSession(), (c) => c.json(c.var.session))
app.post('/login', async (c) => auth.hono.signIn(c, 'credentials', { fields: await c.req.parseBody(), redirectTo: '/in' }))
app.post('/logout', (c) => auth.hono.signOut(c, { redirectTo: '/out' }))

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
