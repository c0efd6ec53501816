import { createAuth } from 'authkernel'
import { koaBinding } from 'authkernel/bindings/koa'
import Koa, { type Context } from 'koa'
import { codeOf, config } from './auth.ts'
import { account, assets, home, members } from './site.ts'

const auth = createAuth(config).use(koaBinding())
await auth.ready()

const app = new Koa()
app.use(auth.koa.handler)
const guard = auth.koa.requireSession()

/** Routes by method and path; a router of yours does this. */
const routes: Record<string, (ctx: Context) => Promise<unknown>> = {
  'GET /': async (ctx) => (ctx.body = home(await auth.koa.session(ctx))),
  'GET /protected': (ctx) => guard(ctx, async () => (ctx.body = members(ctx.state.session!))),
  'GET /account': (ctx) => guard(ctx, async () => (ctx.body = account(ctx.state.session!))),
  'POST /sign-in': signIn,
  'POST /sign-out': (ctx) => auth.koa.signOut(ctx, { redirectTo: '/' }),
  'GET /page': async (ctx) => json(ctx, await auth.koa.session(ctx)),
  'GET /guarded': (ctx) => guard(ctx, async () => json(ctx, ctx.state.session)),
  'POST /login': async (ctx) => auth.koa.signIn(ctx, 'credentials', { fields: await fieldsOf(ctx), redirectTo: '/in' }),
  'POST /logout': (ctx) => auth.koa.signOut(ctx, { redirectTo: '/out' }),
}
app.use(async (ctx) => {
  const asset = assets[ctx.path]
  if (asset) Object.assign(ctx, { type: asset.type, body: asset.body })
  else await routes[`${ctx.method} ${ctx.path.replace(/^(\/sign-in)\/.*/, '$1')}`]?.(ctx)
})
app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')

async function signIn(ctx: Context): Promise<void> {
  const fields = await fieldsOf(ctx)
  try {
    await auth.koa.signIn(ctx, ctx.path.split('/')[2], { fields, redirectTo: '/' })
  } catch (error) {
    Object.assign(ctx, { status: 401, body: home(null, codeOf(error)) })
  }
}

function json(ctx: Context, value: unknown): void {
  Object.assign(ctx, { type: 'application/json', body: JSON.stringify(value) })
}

async function fieldsOf({ req }: Context): Promise<Record<string, string>> {
  let text = ''
  for await (const chunk of req) text += String(chunk)
  return Object.fromEntries(new URLSearchParams(text))
}
