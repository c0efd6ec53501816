/** Rows on bindings that their contract suites prove without naming them. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SolidAuth, type SolidAuthConfig } from 'authkernel/bindings/solid-start'
import { baseConfig } from '../_setup.ts'

const session = async (config: SolidAuthConfig, path: string): Promise<number | undefined> => {
  const { GET } = SolidAuth(config)
  return (await GET({ request: new Request(`http://app.example${path}`) }))?.status
}

describe('SolidStart', () => {
  it('rows 49, 300: the routes are at /api/auth by default', async () => {
    expect(await session(baseConfig(), '/api/auth/session')).toBe(200)
    expect(await session(baseConfig(), '/auth/session')).toBeUndefined()
  })

  it('row 50: prefix alone moves them', async () => {
    const config = { ...baseConfig(), prefix: '/in/auth' }
    expect(await session(config, '/in/auth/session')).toBe(200)
    expect(await session(config, '/api/auth/session')).toBeUndefined()
  })
})

describe('package', () => {
  it('row 299: ESM only, with import names for NodeNext', () => {
    const { type, exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { type: string; exports: Record<string, object> }
    expect(type).toBe('module')
    expect(Object.values(exports).some((entry) => entry !== null && 'require' in Object(entry))).toBe(false)
    expect(exports['./bindings/*']).toEqual({ types: './dist/bindings/*.d.mts', default: './dist/bindings/*.mjs' })
  })
})
