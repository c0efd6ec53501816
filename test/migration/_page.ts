/** What docs/migrating-from-authjs.md tells people to do, read from the page itself, so that it is what the tests do. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../_sources.ts'

const text = readFileSync(join(root, 'docs/migrating-from-authjs.md'), 'utf8')

/** Lines that stand together in a file, and those that take their place. */
interface Hunk {
  old: string[]
  fresh: string[]
}

/** Specifiers of the table "Imports": `*` stands for the same text on both sides, or for a package's name on the left alone. */
export const imports: readonly (readonly [from: string, to: string])[] = [
  ...section('Imports').matchAll(/^\| `([^`]+)` \| `([^`]+)` \|$/gm),
].map(([, from = '', to = '']) => [from, to])

/** The line that names what is tested. */
export const versions: string = /^Versions: .*$/m.exec(text)?.[0] ?? ''

/** Packages of Auth.js that stay as they are: the first column of the table "What stays installed". */
export const kept: readonly string[] = [...section('What stays').matchAll(/`((?:next-auth|@auth)\/[^`]+)`/g)].map(([, name = '']) => name)

/** Names of Auth.js that authkernel does not have, and what stands in their place. */
export const gone: ReadonlyMap<string, string> = new Map(
  [...section('Names').matchAll(/^\| (`[^|]+`) \| ([^|]+) \|$/gm)].flatMap(([, names = '', instead = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']): [string, string] => [name, instead]),
  ),
)

/** Changes to files of `test/migration/apps`, by path. */
export const changes: ReadonlyMap<string, readonly Hunk[]> = new Map(
  [...text.matchAll(/^`test\/migration\/apps\/([^`]+)`:\n\n```diff\n([\s\S]*?)^```$/gm)].map(([, path = '', diff = '']) => [
    path,
    hunks(diff),
  ]),
)

/** Files of `test/migration/apps` that the page gives whole, by path. */
export const whole: ReadonlyMap<string, string> = new Map(
  [...text.matchAll(/^`test\/migration\/apps\/([^`]+)`, new:\n\n```\w+\n([\s\S]*?)^```$/gm)].map(([, path = '', code = '']) => [
    path,
    code,
  ]),
)

/** A file of an app after the move. Throws when the page speaks of lines that are not there. */
export function moved(path: string, code: string): string {
  let lines = code.split('\n')
  for (const { old, fresh } of changes.get(path) ?? []) {
    const at = lines.findIndex((_, i) => old.every((line, k) => lines[i + k] === line))
    if (at === -1) throw new Error(`docs/migrating-from-authjs.md: ${path} has no lines\n${old.join('\n')}`)
    lines = [...lines.slice(0, at), ...fresh, ...lines.slice(at + old.length)]
  }
  return lines.join('\n').replace(/(?<=(?:from|import|module) )'([^'.][^']*)'/g, (_, specifier: string) => `'${replaced(specifier)}'`)
}

/** A specifier by the table; others stay. */
export function replaced(specifier: string): string {
  if (kept.includes(specifier)) return specifier
  // The longer pattern is the more exact one.
  for (const [from, to] of [...imports].sort(([a], [b]) => b.replaceAll('*', '').length - a.replaceAll('*', '').length)) {
    const parts = from.split('*').map((part) => part.replace(/[.$]/g, '\\$&'))
    const match = new RegExp(`^${parts.join('([^/]+)')}$`).exec(specifier)
    if (match) return to.replace('*', match.at(-1) ?? '')
  }
  return specifier
}

function section(heading: string): string {
  return text.split(/^##+ /m).find((part) => part.startsWith(heading)) ?? ''
}

function hunks(diff: string): Hunk[] {
  return diff
    .trimEnd()
    .split(/\n\n/)
    .map((block) => block.split('\n'))
    .map((lines) => ({
      old: lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1)),
      fresh: lines.filter((line) => !line.startsWith('-')).map((line) => line.slice(1)),
    }))
}
