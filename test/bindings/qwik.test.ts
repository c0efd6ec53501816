import { expect, it, vi } from 'vitest'
vi.mock('@builder.io/qwik', () => ({ inlinedQrl: (v: unknown) => ({ v }), implicit$FirstArg: (f: unknown) => f }))
vi.mock('@builder.io/qwik-city', () => ({
  globalActionQrl: (a: unknown, o: object) => ({ a, ...o }),
  routeLoaderQrl: (a: unknown) => ({ a }),
}))
it('x', async () => {
  const { QwikAuth$ } = await import('authkernel/bindings/qwik')
  expect(QwikAuth$).toBeTypeOf('function')
})
