/** No plugin, binding or maker passes over an option that it does not know. Made from what the package exports, so that new ones are in it by themselves. */
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createAuth } from 'authkernel'
import { AuthError } from 'authkernel/kernel'
import { expect, it, vi } from 'vitest'
import { pluginFiles } from '../../scripts/plugins.ts'
import { memoryAdapter } from '../../plugins/adapters/memory/index.ts'
import { altcha } from '../../plugins/security/captcha/index.ts'
import { baseConfig } from '../_setup.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

// Optional peers that are not installed here.
vi.mock('@builder.io/qwik', () => ({ implicit$FirstArg: () => () => {} }))
vi.mock('@builder.io/qwik-city', () => ({ globalAction$: () => {}, routeLoader$: () => {} }))

type Factory = (...given: readonly unknown[]) => { name: string }

// What comes before the options of a factory.
const before: Readonly<Record<string, () => readonly unknown[]>> = {
  adapterPlugin: () => [memoryAdapter()],
  captchaPlugin: () => [altcha()],
}
// Take no options, but what they are made of, and say so.
const withoutOptions: Readonly<Record<string, RegExp>> = { recordsPlugin: /give a store of records/ }

const files = [
  ...pluginFiles(),
  ...readdirSync(`${root}bindings`)
    .filter((file) => file.endsWith('.ts') && !file.startsWith('_'))
    .map((file) => [file.slice(0, -3), `bindings/${file}`] as const),
]
const factories: [string, Factory][] = []
for (const [, file] of files) {
  const module = (await import(/* @vite-ignore */ `${root}${file}`)) as Record<string, unknown>
  for (const [name, value] of Object.entries(module))
    if (/(?:Plugin|Binding)$/.test(name) && typeof value === 'function') factories.push([name, value as Factory])
}

/** What the factory throws, or what `ready()` rejects with. */
async function refusalOf(make: () => { name: string }): Promise<unknown> {
  try {
    await createAuth(baseConfig())
      .use(make() as never)
      .ready()
    return undefined
  } catch (error) {
    return error
  }
}

it('finds the factories', () => {
  expect(factories.length).toBeGreaterThan(45)
})

it.each(factories)('%s refuses an option that it does not have, and names it', async (name, factory) => {
  const error = await refusalOf(() => factory(...(before[name]?.() ?? []), { definitelyNotAnOption: 1 }))
  expect(error).toBeInstanceOf(AuthError)
  expect((error as Error).message).toMatch(withoutOptions[name] ?? /has no option [`"]definitelyNotAnOption/)
})

it.each(factories)('%s takes no text instead of its options', async (name, factory) => {
  for (const given of ['text', ['list']]) {
    const error = await refusalOf(() => factory(...(before[name]?.() ?? []), given))
    expect(error).toBeInstanceOf(AuthError)
  }
})
