/**
 * Checks the English of the docs, of comments of exported names, and of messages, by the rules of docs/style.md: `npm run prose [file …]`.
 * Findings of a file are kept by its content, so that only changed files are read again.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkMarkdown } from './prose/markdown.ts'
import { checkSource } from './prose/source.ts'
import pending from './prose/pending.json' with { type: 'json' }

const root = fileURLToPath(new URL('../', import.meta.url))
const cacheFile = join(root, 'node_modules/.cache/authkernel-prose.json')
/** Written from other places, or a record of the past. */
const exempt = [
  /^CHANGELOG\.md$/,
  /^docs\/(rows|reference\/exports)\.md$/,
  /^docs\/style\.md$/,
  /^(test|bench\/reports)\//,
  /\.generated\.ts$/,
]
const sources = /^(src|plugins|bindings)\/.*(?<!\.d)\.ts$/
const translations = /\/messages\/(?!en\b)\w+\.ts$/

type Findings = Record<string, string[]>

/** Findings of files of this repository, by path. */
export async function checkFiles(paths: readonly string[]): Promise<Findings> {
  const rules = hash(
    ['check', 'markdown', 'source'].map((name) => read(`scripts/prose/${name}.ts`)).join('') + read('scripts/prose/words.json'),
  )
  const cached = readCache()
  const kept: Findings = {}
  const found: Findings = {}
  for (const path of paths) {
    const text = read(path)
    const key = `${path} ${hash(rules + text)}`
    kept[key] = cached[key] ?? (path.endsWith('.md') ? await checkMarkdown(text) : checkSource(path, text))
    if (kept[key].length > 0) found[path] = kept[key]
  }
  mkdirSync(dirname(cacheFile), { recursive: true })
  writeFileSync(cacheFile, JSON.stringify({ ...cached, ...kept }))
  return found
}

/** Files that are checked: all that git knows, without those that wait for their rewriting. */
export function listFiles(): string[] {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md', 'src/*.ts', 'plugins/*.ts', 'bindings/*.ts'], {
    cwd: root,
    encoding: 'utf8',
  })
  return files.split('\n').filter((path) => isChecked(path) && !(pending as string[]).some((prefix) => path.startsWith(prefix)))
}

function isChecked(path: string): boolean {
  return (path.endsWith('.md') || sources.test(path)) && !exempt.some((pattern) => pattern.test(path)) && !translations.test(path)
}

function readCache(): Findings {
  try {
    return JSON.parse(readFileSync(cacheFile, 'utf8')) as Findings
  } catch {
    return {}
  }
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function hash(text: string): string {
  return createHash('sha1').update(text).digest('base64url')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const named = process.argv.slice(2)
  const found = await checkFiles(named.length > 0 ? named : listFiles())
  for (const [path, messages] of Object.entries(found)) for (const message of messages) console.error(`${path}:${message}`)
  process.exitCode = Object.keys(found).length > 0 ? 1 : 0
}
