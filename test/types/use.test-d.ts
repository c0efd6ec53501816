/** What `.use()` does to the type of `auth`, against the sources; `test/package` does the same against the packed declarations. */
import { type Auth, createAuth, type Session } from 'authkernel'
import { createKernel, definePlugin, type Plugin } from 'authkernel/kernel'
import { describe, expectTypeOf, it } from 'vitest'

const base = createAuth()
const api = definePlugin({ name: 'a', setup: () => ({ a: { one: 1 } }) })
const other = definePlugin({ name: 'b', setup: () => ({ b: (text: string) => text.length }) })
const silent = definePlugin({ name: 'c', setup() {} })

describe('use', () => {
  it('adds the api of each plugin and keeps the ones before', () => {
    const auth = base.use(api).use(silent).use(other)
    expectTypeOf(auth.a.one).toEqualTypeOf<number>()
    expectTypeOf(auth.b).toEqualTypeOf<(text: string) => number>()
    expectTypeOf(auth.session).returns.toEqualTypeOf<Promise<Session | null>>()
  })

  it('never turns auth into any', () => {
    expectTypeOf(base).not.toBeAny()
    expectTypeOf(base.use(silent)).not.toBeAny()
    expectTypeOf(createKernel().use(api)).not.toBeAny()
    expectTypeOf(base.use(api as Plugin<ReturnType<typeof JSON.parse>>)).not.toBeAny()
  })

  it('gives nothing for a plugin that was not used', () => {
    expectTypeOf(base).not.toHaveProperty('a')
    expectTypeOf(base.use(silent)).not.toHaveProperty('c')
  })

  it('lets a function ask for the APIs it needs', () => {
    const need = (auth: Auth<{ a: { one: number } }>): number => auth.a.one
    expectTypeOf(need).toBeCallableWith(base.use(other).use(api))
  })
})
