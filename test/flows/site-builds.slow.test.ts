/** A build of the documentation site fails, and says why. Each takes half a minute. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { writeApi } from '../../site/api.ts'
import { root } from '../_sources.ts'
import { buildSite, writeDocs } from './_site-build.ts'
import * as fixture from './_unsaid.ts'

// In CI what is not installed is a failure.
const there = existsSync(join(root, 'site/node_modules/typedoc')) || Boolean(process.env.CI)
const folder = mkdtempSync(join(tmpdir(), 'authkernel-site-'))
const drop = [folder]
afterAll(() => drop.forEach((path) => rmSync(path, { recursive: true, force: true })))

describe.skipIf(!there)('a build', { concurrent: true }, () => {
  it('fails by an exported name without a sentence, and names it', async ({ expect }) => {
    const modules = new Map([
      ['fixture', 'test/flows/_unsaid.ts'],
      ['versions', 'site/versions.ts'],
    ])
    expect(Object.keys(fixture)).toContain('unsaid')
    await expect(writeApi(join(folder, 'api'), modules)).rejects.toThrow(/no sentence in their comment:\nfixture: unsaid$/)
  })

  it('fails by a dead link', async ({ expect }) => {
    const { code, said } = await buildSite(writeDocs(drop, { 'index.md': '# Start\n\n[gone](gone.md)\n' }), join(folder, 'dead'))
    expect(code).not.toBe(0)
    expect(said).toMatch(/dead link.*gone/i)
  })

  it('fails by a page that nothing leads to, and names it', async ({ expect }) => {
    const docs = writeDocs(drop, { 'index.md': '# Start\n\n[a](a.md)\n', 'a.md': '# A\n', 'lost.md': '# Lost\n' })
    const { code, said } = await buildSite(docs, join(folder, 'lost'))
    expect(code).not.toBe(0)
    expect(said).toContain('No page leads to: lost.md.')
  })
})
