/** SECURITY.md: each promise names a test that is there. The package says what is in it, and how it is published. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { billOfMaterials } from '../scripts/sbom.ts'
import { root } from './_sources.ts'

const read = (path: string): string => readFileSync(root + path, 'utf8')

describe('the threat model', () => {
  const rows = [...read('SECURITY.md').matchAll(/^\| (.+?) \| `(test\/[\w./-]+)`: (.+) \|$/gm)].map(
    ([, promise, file, test]) => [promise!, file!, test!] as const,
  )

  it('promises something, with one test each', () => expect(rows.length).toBeGreaterThan(15))

  it.each(rows)('%s', (_promise, file, test) => {
    expect(existsSync(root + file)).toBe(true)
    // As the name of a test, and not of one that is left out.
    const names = [
      ...read(file).matchAll(/\b(?:it|describe)(\.\w+)*(?:\([\s\S]{0,400}?\] as const\)|\([^()]*\))?\(\s*['"`]([^\n]*?)['"`],/g),
    ]
    const found = names.find(([, , name]) => name?.includes(test))
    expect(found?.[2]).toContain(test)
    expect(found?.[1] ?? '').not.toMatch(/skip|todo/)
  })
})

it('the bill of materials has every dependency and every bundled package, in the versions that are installed', () => {
  const bill = billOfMaterials()
  expect([bill.bomFormat, bill.metadata.component.name]).toEqual(['CycloneDX', 'authkernel'])
  const versions = Object.fromEntries(bill.components.map(({ name, version }) => [name, version]))
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
  for (const name of Object.keys(dependencies))
    expect(versions[name]).toBe((JSON.parse(read(`node_modules/${name}/package.json`)) as { version: string }).version)
  for (const name of ['citty', 'cookie-es', '@clack/prompts']) expect(versions[name]).toBeDefined()
  expect(bill.components.every(({ purl, version }) => purl.startsWith('pkg:npm/') && version !== '')).toBe(true)
  // What only tests need is not in the package.
  expect(versions).not.toHaveProperty('vitest')
})

it('releases have provenance, and run no action whose version an attacker can move', () => {
  const workflow = read('.github/workflows/release.yml')
  const uses = [...workflow.matchAll(/uses: (\S+)/g)].map(([, action]) => action)
  expect(uses.length).toBeGreaterThan(1)
  for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40}$/)
  expect(workflow).toContain('npm publish --provenance')
  expect(workflow).toContain('id-token: write')
  expect(workflow).not.toMatch(/pull_request_target|write-all/)
})
