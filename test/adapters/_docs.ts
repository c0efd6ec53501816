/** The tables of `docs/adapters.md`: made of what the tests assert, by the tests that assert it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { factsOf, published } from './_published.ts'

const page = fileURLToPath(new URL('../../docs/adapters.md', import.meta.url))
const lock = fileURLToPath(new URL('../peers/package-lock.json', import.meta.url))
const root = fileURLToPath(new URL('../../node_modules/', import.meta.url))

/** Replaces the part of the page between the marks of a name. */
export function writePart(name: string, text: string): void {
  const [before, , after] = split(name)
  writeFileSync(page, `${before}${text}${after}`)
}

/** The part of the page between the marks of a name. */
export function readPart(name: string): string {
  return split(name)[1]
}

function split(name: string): [string, string, string] {
  const text = readFileSync(page, 'utf8')
  const [start, end] = [`<!-- ${name}: made by the tests -->\n`, `<!-- ${name}: end -->`]
  const [from, to] = [text.indexOf(start) + start.length, text.indexOf(end)]
  if (from < start.length || to < 0) throw new Error(`docs/adapters.md has no part "${name}"`)
  return [text.slice(0, from), text.slice(from, to), text.slice(to)]
}

/** Our adapters, with the versions of what they ran on. */
export function ownTable(servers: Readonly<Record<'postgres' | 'mysql' | 'redis', string>>): string {
  const version = (name: string): string => (JSON.parse(readFileSync(`${root}${name}/package.json`, 'utf8')) as { version: string }).version
  const kysely = `kysely ${version('kysely')}`
  return table(
    ['adapter', 'store', 'with', 'races between processes', 'killed while it writes'],
    [
      ['`memoryAdapter`', 'memory', '', 'one process', 'nothing is kept'],
      [
        '`unstorageAdapter`',
        'files (`fs`, `fs-lite`)',
        `unstorage ${version('unstorage')}`,
        'a second process is rejected',
        'nothing half-made',
      ],
      [
        '`unstorageAdapter`',
        `Redis ${servers.redis}`,
        `unstorage ${version('unstorage')}, ioredis ${version('ioredis')}`,
        'four processes',
        'nothing half-made',
      ],
      ['`sqlAdapter`', 'SQLite', `${kysely}, @libsql/client ${version('@libsql/client')}`, 'four processes', 'nothing half-made'],
      [
        '`sqlAdapter`',
        'PGlite',
        `${kysely}, @electric-sql/pglite ${version('@electric-sql/pglite')}`,
        'one process',
        'a transaction per write',
      ],
      ['`sqlAdapter`', `PostgreSQL ${servers.postgres}`, `${kysely}, pg ${version('pg')}`, 'four processes', 'nothing half-made'],
      ['`sqlAdapter`', `MariaDB ${servers.mysql}`, `${kysely}, mysql2 ${version('mysql2')}`, 'four processes', 'nothing half-made'],
    ],
  )
}

/** Published adapters, with the versions of `test/peers`. */
export function publishedTable(): string {
  const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, { version: string }> }
  return table(
    ['package', 'version', 'store', 'jwt', 'database', 'rules of the contract left open'],
    published.map((each) => [
      `\`${each.package}\``,
      packages[`node_modules/${each.package}`]!.version,
      each.store,
      'passes',
      'passes',
      String(factsOf(each).gaps.length),
    ]),
  )
}

/** Rules that published adapters break, and which of them do. */
export function gapsList(): string {
  const rules = new Map<string, string[]>()
  for (const each of published) {
    for (const gap of factsOf(each).gaps)
      rules.set(gap, [...(rules.get(gap) ?? []), `${each.package.replace(/^@auth\/|-adapter$/g, '')} on ${each.store}`])
  }
  return [...rules].map(([rule, names]) => `- ${rule.replaceAll('|', '\\|')}: ${names.join(', ')}\n`).join('')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}
