/** What `.use()` does to the type of `auth`, against the sources; `test/package` does the same against the packed declarations. */
import { type Auth, createAuth, type Session } from 'authkernel'
import { createKernel, definePlugin, type Plugin } from 'authkernel/kernel'
import { describe, expectTypeOf, it } from 'vitest'

const base = createAuth()
const face = definePlugin({ name: 'a', setup: () => ({ a: { one: 1 } }) })
const other = definePlugin({ name: 'b', setup: () => ({ b: (text: string) => text.length }) })
const silent = definePlugin({ name: 'c', setup() {} })

describe('use', () => {
  it('adds the face of each plugin and keeps the ones before', () => {
    const auth = base.use(face).use(silent).use(other)
    expectTypeOf(auth.a.one).toEqualTypeOf<number>()
    expectTypeOf(auth.b).toEqualTypeOf<(text: string) => number>()
    expectTypeOf(auth.session).returns.toEqualTypeOf<Promise<Session | null>>()
  })

  it('never turns auth into any', () => {
    expectTypeOf(base).not.toBeAny()
    expectTypeOf(base.use(silent)).not.toBeAny()
    expectTypeOf(createKernel().use(face)).not.toBeAny()
    expectTypeOf(base.use(face as Plugin<ReturnType<typeof JSON.parse>>)).not.toBeAny()
  })

  it('gives nothing for a plugin that was not used', () => {
    expectTypeOf(base).not.toHaveProperty('a')
    expectTypeOf(base.use(silent)).not.toHaveProperty('c')
  })

  it('lets a function ask for the faces it needs', () => {
    const need = (auth: Auth<{ a: { one: number } }>): number => auth.a.one
    expectTypeOf(need).toBeCallableWith(base.use(other).use(face))
  })
})
