/** Builds of the documentation site, from its own pages or from pages that a test writes. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { clean } from '../../scripts/install.ts'
import { root } from '../_sources.ts'

/** How a build ended, and the end of what it printed. */
export type Outcome = Promise<{ code: number | null; said: string }>

/** A folder with these pages; it is added to `drop`. */
export function writeDocs(drop: string[], files: Record<string, string>): string {
  mkdirSync(join(root, 'site/.vitepress/cache'), { recursive: true })
  const docs = mkdtempSync(join(root, 'site/.vitepress/cache/docs-'))
  drop.push(docs)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(docs, name)), { recursive: true })
    writeFileSync(join(docs, name), text)
  }
  return docs
}

export function buildSite(docs: string, out: string, env: Record<string, string> = {}): Outcome {
  return runScript([join(root, 'site/node_modules/vitepress/bin/vitepress.js'), 'build', join(root, 'site')], {
    DOCS_DIR: docs,
    DOCS_OUT: out,
    ...env,
  })
}

export function runScript(args: string[], env: Record<string, string>): Outcome {
  const child = spawn(process.execPath, args, { cwd: root, env: { ...clean(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (said += data.toString()))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said: said.slice(-4_000) })))
}
