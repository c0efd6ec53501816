/**
 * Writes docs/reference/: every member of what plugins are given, and every export of `authkernel/kernel`, read from the types.
 * `--check` writes nothing and fails when a page is out of date. A member of these, or of any options, without a sentence fails in both.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readExamples } from './examples/read.ts'
import { examples } from './reference-examples.ts'
import { publicModules } from '../site/api.ts'
import { type Member, readExports, readInterface, silentOptions } from './reference-source.ts'

const folder = fileURLToPath(new URL('../docs/reference/', import.meta.url))

interface Page {
  file: string
  title: string
  lead: string
  /** Interfaces of src/contract, in their order. */
  interfaces: readonly string[]
}
const pages: readonly Page[] = [
  {
    file: 'kernel',
    title: 'Kernel',
    lead: 'Register routes, hooks, provider types, services and more: `setup(kernel)` of a plugin gets this object.',
    interfaces: ['Kernel', 'EntryPoints', 'LoginApi'],
  },
  {
    file: 'context',
    title: 'Context',
    lead: 'Read the request and answer it: handlers of routes, hooks and jobs get `ctx`.',
    interfaces: ['CommonContext', 'Context', 'JobContext', 'Facts', 'App'],
  },
  {
    file: 'identity',
    title: 'Identity and login',
    lead: 'Write a sign-in method: it returns an `Identity`, and the kernel makes a `Login` of it.',
    interfaces: ['Identity', 'Proof', 'Login', 'ParkedLogin', 'ProviderFlow'],
  },
  {
    file: 'hooks',
    title: 'Hooks',
    lead: 'Change or stop a flow. [Hooks and events](../hooks.md) has an example of each.',
    interfaces: ['Hooks'],
  },
  {
    file: 'events',
    title: 'Events',
    lead: 'React to what happened. Events fire afterwards and cannot change the flow. [Hooks and events](../hooks.md) has an example of each.',
    interfaces: ['Events'],
  },
  {
    file: 'services',
    title: 'Services',
    lead: 'Use what another plugin or the kernel provides: `ctx.service(name)`.',
    interfaces: ['Services', 'Once', 'Limit', 'Lease', 'Sealer', 'Pages', 'Mail', 'MailTransport', 'SessionStrategy', 'Revocations'],
  },
  {
    file: 'records',
    title: 'Records',
    lead: 'Store data of a plugin in the database of the app: `kernel.records` and `ctx.records(name)`.',
    interfaces: ['RecordSpec', 'FieldSpec', 'RecordTable', 'RecordStore'],
  },
  {
    file: 'routes',
    title: 'Routes and cookies',
    lead: 'Add routes and cookies: the options of `kernel.route`, `kernel.cookie` and `kernel.pending`.',
    interfaces: ['Route', 'CookieSpec', 'CookieHandle', 'PendingList'],
  },
  {
    file: 'adapter',
    title: 'Adapter',
    lead: 'Connect a database: the operations that an adapter can have. [Adapters](../adapters.md) lists the ready-made ones.',
    interfaces: ['Adapter'],
  },
]

/** Pages by name. Throws when a member or an export has no sentence. */
export function referencePages(): Record<string, string> {
  const silent: string[] = []
  const lines = readExamples()
  const made: Record<string, string> = {}
  for (const page of pages) {
    const parts = page.interfaces.map((name) => {
      const found = readInterface(name)
      silent.push(...missing(name, found.members))
      return [
        `## \`${name}\``,
        '',
        found.text,
        '',
        ...table(found.members, lines.get(lower(name)), (member) => silent.push(`${name}.${member}: no example`)),
        '',
      ]
    })
    made[`${page.file}.md`] = [`# ${page.title}`, '', page.lead, '', ...example(page.file), ...parts.flat()].join('\n')
  }
  for (const [name, file] of publicModules()) silent.push(...silentOptions(file).map((member) => `${name} ${member}`))
  const all = readExports()
  silent.push(...missing('authkernel/kernel', all))
  const parts = [...kernelParts()].flatMap(([name, file]) => {
    const members = readExports(file)
    silent.push(...missing(name, members))
    return [`## ${name}`, '', ...table(members, lines.get('exports'), (member) => silent.push(`exports ${member}: no example`)), '']
  })
  made['exports.md'] = [
    '# Exports of authkernel/kernel',
    '',
    'Look up everything that a plugin may import.',
    '',
    ...example('exports'),
    ...table(all, lines.get('exports'), (name) => silent.push(`exports ${name}: no example`)),
    '',
    ...parts,
  ].join('\n')
  made['README.md'] = index()
  if (silent.length > 0) throw new Error(`These have no sentence in their comment, or no line in scripts/examples:\n${silent.join('\n')}`)
  return made
}

/** Modules beside `authkernel/kernel` that a plugin may import, and their files below `src/`. */
function kernelParts(): Map<string, string> {
  const files = readdirSync(join(folder, '../../src/kernel/entries')).sort()
  return new Map([
    ...files.map((file) => [`authkernel/kernel/${file.slice(0, -3)}`, `kernel/entries/${file}`] as const),
    ['authkernel/errors', 'errors/index.ts'],
  ])
}

function missing(owner: string, members: readonly Member[]): string[] {
  return members.filter(({ text }) => text === '').map(({ name }) => `${owner}.${name}`)
}

const lower = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1)
const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ').trim()
const code = (text: string): string => (text.includes('`') ? `\`\` ${cell(text)} \`\`` : `\`${cell(text)}\``)

/** `lines`: examples by member; every member but types then needs one. */
function table(members: readonly Member[], lines: ReadonlyMap<string, string> | undefined, lacks: (name: string) => void): string[] {
  const seen = new Map<string, number>()
  const rows = members.map(({ name, type, text }) => {
    const plain = name.replace(/\?$/, '')
    const nth = (seen.get(plain) ?? 0) + 1
    seen.set(plain, nth)
    const start = `| \`${name}\` | \`${cell(type)}\` | ${cell(text)} |`
    if (!lines) return start
    const line = lines.get(nth === 1 ? plain : `${plain} ${nth}`)
    if (line === undefined && type !== 'interface' && type !== 'type') lacks(plain)
    return `${start} ${line === undefined ? '' : `${code(line)} `}|`
  })
  const heads = lines ? ['| | type | | example |', '|---|---|---|---|'] : ['| | type | |', '|---|---|---|']
  return [...heads, ...rows]
}

function example(page: string): string[] {
  const code = examples[page]
  if (code === undefined) throw new Error(`scripts/reference-examples.ts has no example for "${page}".`)
  return ['```ts', code.trim(), '```', '']
}

function index(): string {
  const rows = pages.map(({ file, title, lead }) => `- [${title}](${file}.md): ${lead.replace(/ \[.*$/, '')}`)
  return [
    '# Reference',
    '',
    'Look up every member of the plugin API, with its type and an example. `npm run reference` makes these pages from the types.',
    '',
    ...rows,
    '- [Exports](exports.md): everything that a plugin may import from `authkernel/kernel`.',
    '',
  ].join('\n')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const made = referencePages()
  if (process.argv.includes('--check')) {
    for (const [name, page] of Object.entries(made))
      if (readFileSync(join(folder, name), 'utf8') !== page)
        throw new Error(`docs/reference/${name} is out of date: run \`npm run reference\``)
  } else {
    mkdirSync(folder, { recursive: true })
    for (const name of readdirSync(folder)) if (!(name in made)) rmSync(join(folder, name))
    for (const [name, page] of Object.entries(made)) writeFileSync(join(folder, name), page)
  }
  console.log(`${Object.keys(made).length} pages`)
}
