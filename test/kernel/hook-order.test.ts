/** `before` and `after`: handlers of one hook or event in the order that their plugins ask for. */
import { createAuth } from 'authkernel'
import { type HandlerPlace, type Kernel, type Plugin } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'

const secret = 'x'.repeat(43)
const make = () => createAuth({ secret, trustHost: true })
const read = (auth: ReturnType<typeof make>) => auth.session(new Request('http://localhost:3000/'))

/** A plugin that answers one hook of each kind, hears an event, and notes its name whenever it is asked. */
function noting(name: string, asked: string[], place?: HandlerPlace & { last?: boolean }): Plugin {
  return {
    name,
    setup(kernel: Kernel) {
      kernel.hook('authenticate', () => void asked.push(`first ${name}`), place)
      kernel.hook('session', () => void asked.push(`pipe ${name}`), place)
      kernel.on('noted', () => void asked.push(`event ${name}`), place)
    },
  }
}

/** Names in the order in which a kernel with these plugins asks them, by kind. */
async function orderOf(plugins: readonly [string, (HandlerPlace & { last?: boolean })?][]): Promise<Record<string, string[]>> {
  const asked: string[] = []
  const auth = make()
  for (const [name, place] of plugins) auth.use(noting(name, asked, place))
  auth.use({
    name: 'asking',
    setup(kernel) {
      kernel.route({
        method: 'GET',
        path: '/ask',
        async handler(ctx) {
          await ctx.ask('authenticate', {})
          await ctx.ask('session', { session: { expires: '' }, token: {} } as never)
          await ctx.emit('noted', { name: 'asked', outcome: 'done' } as never)
          return new Response()
        },
      })
    },
  })
  const response = await auth.handler(new Request('http://localhost:3000/auth/ask'))
  expect(response.status).toBe(200)
  const of = (kind: string) => asked.filter((one) => one.startsWith(kind)).map((one) => one.slice(kind.length + 1))
  return { first: of('first'), pipe: of('pipe'), event: of('event') }
}

describe('the order of handlers', () => {
  it('is that of use() where nothing is said; `first` hooks ask the newest first', async () => {
    expect(await orderOf([['a'], ['b'], ['c']])).toEqual({ first: ['c', 'b', 'a'], pipe: ['a', 'b', 'c'], event: ['a', 'b', 'c'] })
  })

  it('follows `before`: the handler takes the place of the one that it comes before, whatever the verb', async () => {
    expect(await orderOf([['a'], ['b'], ['c', { before: 'a' }]])).toEqual({
      first: ['c', 'b', 'a'],
      pipe: ['c', 'a', 'b'],
      event: ['c', 'a', 'b'],
    })
    expect(await orderOf([['a', { before: 'c' }], ['b'], ['c']])).toEqual({
      first: ['a', 'c', 'b'],
      pipe: ['a', 'b', 'c'],
      event: ['a', 'b', 'c'],
    })
  })

  it('follows `after`, also several names, also in a chain', async () => {
    expect(await orderOf([['a', { after: ['b', 'c'] }], ['b'], ['c'], ['d']])).toEqual({
      first: ['d', 'c', 'b', 'a'],
      pipe: ['b', 'c', 'a', 'd'],
      event: ['b', 'c', 'a', 'd'],
    })
    expect((await orderOf([['a', { after: 'b' }], ['b', { after: 'c' }], ['c']]))['pipe']).toEqual(['c', 'b', 'a'])
  })

  it('moves a handler that is asked after all others only where it says so itself, or where another one comes after it', async () => {
    const placed = await orderOf([['a', { last: true }], ['b'], ['c', { after: 'a' }]])
    expect(placed['first']).toEqual(['b', 'a', 'c'])
  })

  it('is the same after a handler was taken back, and does not move plugins without a handler', async () => {
    const asked: string[] = []
    const auth = make()
      .use(noting('a', asked))
      .use({ name: 'silent', setup: () => {} })
    auth.use(noting('b', asked, { before: ['a', 'silent'] }))
    const undo = auth.hook('authenticate', () => void asked.push('first app'), { after: 'b' })
    await read(auth)
    expect(asked).toEqual(['first b', 'first app', 'first a'])
    asked.length = 0
    undo()
    await read(auth)
    expect(asked).toEqual(['first b', 'first a'])
  })
})

describe('an order that cannot be', () => {
  it('is refused at start and by the first request: the error names the circle', async () => {
    const auth = make()
      .use(noting('a', [], { before: 'b' }))
      .use(noting('b', [], { before: 'c' }))
      .use(noting('c', [], { before: 'a' }))
    await expect(auth.ready()).rejects.toThrow(
      /The order of the hook "authenticate" is a circle: (?:"a" before "b" before "c" before "a"|"b" before "c" before "a" before "b"|"c" before "a" before "b" before "c")\./,
    )
    expect((await auth.handler(new Request('http://localhost:3000/auth/session'))).status).toBe(500)
    auth.remove('c')
    // `b` wants to come before a plugin that is gone.
    await expect(auth.ready()).rejects.toThrow(
      /Plugin "b" wants to answer the hook "authenticate" before the plugin "c", which is not there\./,
    )
  })

  it('is refused where a plugin names itself', async () => {
    await expect(
      make()
        .use(noting('a', [], { after: 'a' }))
        .ready(),
    ).rejects.toThrow(/Plugin "a" wants to answer the hook "authenticate" before or after itself/)
  })

  it('is refused for an unknown plugin, with what was meant; the app is checked too', async () => {
    await expect(
      make()
        .use(noting('captcha', []))
        .use(noting('mine', [], { before: 'captchas' }))
        .ready(),
    ).rejects.toThrow(
      /Plugin "mine" wants to answer the hook "authenticate" before the plugin "captchas", which is not there\. Did you mean "captcha"\?.*optional: true/,
    )
    const auth = make()
    auth.on('signOut', () => {}, { after: 'audits' })
    await expect(auth.ready()).rejects.toThrow(/createAuth: the app wants to hear the event "signOut" after the plugin "audits"/)
  })

  it('is none for an unknown plugin that is marked as optional', async () => {
    await make()
      .use(noting('mine', [], { before: { plugin: 'captchas', optional: true }, after: ['pages', { plugin: 'x', optional: true }] }))
      .ready()
    const placed = await orderOf([['a'], ['b', { before: { plugin: 'a', optional: true } }]])
    expect(placed['pipe']).toEqual(['b', 'a'])
  })
})
