/** One example for each page of docs/reference. `npm test` compiles them with those of the other pages. */
export const examples: Readonly<Record<string, string>> = {
  kernel: `
import { definePlugin, json } from 'authkernel/kernel'

export const maintenance = definePlugin({
  name: 'maintenance',
  setup(kernel) {
    let closed = false
    kernel.hook('request', () => (closed ? new Response('Back soon.', { status: 503 }) : undefined))
    kernel.route({ method: 'GET', path: '/maintenance', handler: () => json({ closed }) })
    return { maintenance: { close: () => void (closed = true) } }
  },
})
`,
  context: `
import { definePlugin, json } from 'authkernel/kernel'

export const whoAmI = definePlugin({
  name: 'who-am-i',
  setup(kernel) {
    kernel.route({
      method: 'GET',
      path: '/me',
      async handler(ctx) {
        const session = await ctx.currentSession()
        return json({ name: session?.user?.name ?? null, address: ctx.clientAddress ?? null, at: ctx.now })
      },
    })
  },
})
`,
  identity: `
import type { Identity } from 'authkernel/kernel'

export const identity: Identity = {
  user: { id: '4711', name: 'Kim', email: 'kim@example.com' },
  account: { provider: 'kiosk', type: 'credentials', providerAccountId: '4711' },
  match: 'account',
  proof: { amr: ['pin'] },
}
`,
  hooks: `
import { createAuth } from 'authkernel'

const auth = createAuth()
auth.hook('signIn', ({ user }) => user.email?.endsWith('@acme.example') === true)
`,
  events: `
import { createAuth } from 'authkernel'

const auth = createAuth()
auth.on('signedIn', ({ login, facts }) => console.log(login.user.name, login.account.provider, facts.address))
`,
  services: `
import { definePlugin } from 'authkernel/kernel'

export const quiet = definePlugin({
  name: 'quiet',
  setup(kernel) {
    kernel.decorate('mail', (inner) => ({
      async send(ctx, to, template, data, options) {
        if (!to.endsWith('@example.com')) await inner.send(ctx, to, template, data, options)
      },
    }))
  },
})
`,
  records: `
import { definePlugin, json } from 'authkernel/kernel'

declare module 'authkernel/kernel' {
  interface Records {
    note: { userId: string; text: string; created: Date }
  }
}

export const notes = definePlugin({
  name: 'notes',
  requires: ['records'],
  setup(kernel) {
    kernel.records('note', {
      fields: { userId: { type: 'string' }, text: { type: 'text', sealed: true }, created: { type: 'date' } },
      index: [['userId', 'created']],
      owner: 'user',
    })
    kernel.route({
      method: 'GET',
      path: '/notes',
      async handler(ctx) {
        const user = await ctx.session.user(ctx)
        const { rows } = user?.id ? await ctx.records('note').find({ where: { userId: user.id }, order: 'desc' }) : { rows: [] }
        return json(rows.map(({ text }) => text))
      },
    })
  },
})
`,
  routes: `
import { definePlugin, json } from 'authkernel/kernel'

export const theme = definePlugin({
  name: 'theme',
  setup(kernel) {
    const cookie = kernel.cookie('theme', { maxAge: 31_536_000 })
    kernel.route({
      method: 'POST',
      path: '/theme',
      body: { bytes: 1024, types: ['form', 'json'] },
      async handler(ctx) {
        const { name } = await ctx.body()
        cookie.set(ctx, name === 'dark' ? 'dark' : 'light')
        return json({ saved: true })
      },
    })
  },
})
`,
  adapter: `
import type { Adapter } from 'authkernel/kernel'

export function counting(adapter: Adapter, count: (name: string) => void): Adapter {
  return { ...adapter, getUser: (id) => (count('getUser'), adapter.getUser?.(id) ?? null) }
}
`,
  exports: `
import { AccessDenied, equal, randomHex, toBase64Url } from 'authkernel/kernel'

export function check(given: string, expected: string): void {
  if (!equal(given, expected)) throw new AccessDenied('The value does not fit.')
}
export const token = (random: { random(bytes: number): Uint8Array }) => randomHex(random, 16) + toBase64Url(new Uint8Array(2))
`,
}
