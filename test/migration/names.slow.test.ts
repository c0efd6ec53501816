/** Every name that a package of Auth.js exports, types included, is one of the binding in its place. */
import { expect, it } from 'vitest'
import { namesOf } from './_names.ts'

const packages = {
  next: 'playground/next/node_modules/next-auth/index.d.ts',
  sveltekit: 'playground/sveltekit/node_modules/@auth/sveltekit/dist/index.d.ts',
  'solid-start': 'playground/solid-start/node_modules/@auth/solid-start/index.d.ts',
  express: 'test/migration/node_modules/@auth/express/index.d.ts',
  qwik: 'test/migration/node_modules/@auth/qwik/index.d.ts',
}
const names = namesOf(Object.entries(packages).flatMap(([binding, file]) => [file, `bindings/${binding}.ts`]))

it.each(Object.entries(packages))('%s', (binding, file) => {
  const ours = names(`bindings/${binding}.ts`)
  expect(names(file).length).toBeGreaterThan(9)
  expect(names(file).filter((name) => !ours.includes(name))).toEqual([])
})
