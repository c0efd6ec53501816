/** Changes the sources of an app with NextAuth 4 as docs/migrating-from-nextauth-4.md says. */
import type { Change } from '../init/files.ts'
import { type Modules, moveName } from './module-paths.ts'
import type { FactoryCall, Import, SourceFile, Span } from './scan.ts'

/** What will be written, and what a user must do. */
export interface Rewriting {
  changes: Change[]
  /** Files that go. */
  removed: string[]
  notes: string[]
}
interface Edit extends Span {
  text: string
}
/** Where the options are, and what the module with `auth` is called from now on. */
interface AuthModule {
  from: string
  to: string
  options: string
}
interface Plan {
  modules: Modules
  auth: AuthModule | undefined
  providers: ReadonlySet<string>
  notes: string[]
}

const binding = 'authkernel/bindings/next'
const compat = 'authkernel/plugins/next-auth-4-compat'
const bindingTypes = new Set(['Account', 'DefaultSession', 'Profile', 'Session', 'User'])
const removedImports = /^(?:default|NextAuth|getServerSession|unstable_getServerSession)$/
const newPlaces: Readonly<Record<string, string>> = {
  'next-auth/jwt': 'authkernel/jwt',
  'next-auth/providers': 'authkernel',
  'next-auth/providers/index': 'authkernel',
  'next-auth/adapters': 'authkernel',
}
// The ids of these are others, or there are more of them.
const renamedProviders: Readonly<Record<string, string>> = { 'ory-hydra': 'hydra' }

/** `files` are those that name NextAuth, or the module with its options. */
export function rewriteApp(files: readonly SourceFile[], modules: Modules, providers: ReadonlySet<string>): Rewriting {
  const notes: string[] = []
  const found = files.flatMap((file) => file.factories.map((call) => ({ file, call })))
  const route = found.length === 1 ? found[0] : undefined
  if (found.length > 1)
    notes.push(`NextAuth is called in ${found.map(({ file }) => file.path).join(' and ')}: keep one call and run this again.`)
  const auth = route && findAuthModule(route.file, route.call, modules, notes)
  const plan: Plan = { modules, auth, providers, notes }
  const changes: Change[] = []
  const removed: string[] = []
  for (const file of files) {
    const isRoute = auth !== undefined && file === route?.file
    if (isRoute && auth.from !== file.path) continue
    const after = applyEdits(file.text, editsOf(file, plan, isRoute ? route.call : undefined))
    const path = auth?.from === file.path ? auth.to : file.path
    const whole = auth?.from === file.path ? withAuth(after, file, auth) : after
    if (path !== file.path) changes.push({ path, before: null, after: whole })
    else if (whole !== file.text) changes.push({ path, before: file.text, after: whole })
  }
  if (auth && route) {
    const path = routePath(route.file.path)
    const { path: former, text } = route.file
    const after = routeModule(styleOf(text), modules.nameOf(path, auth.to))
    if (path === former) changes.push({ path, before: text, after })
    else {
      changes.push({ path, before: null, after })
      removed.push(former)
    }
  }
  return { changes, removed, notes: [...new Set(notes)] }
}

function findAuthModule(file: SourceFile, { args }: FactoryCall, modules: Modules, notes: string[]): AuthModule | undefined {
  const [options] = args
  if (args.length !== 1 || options?.name === undefined) {
    notes.push(
      `${file.path}: write the options as \`export const authOptions = {…}\` in a separate module, call NextAuth(authOptions), and run this again.`,
    )
    return undefined
  }
  if (file.variables.has(options.name)) {
    // Next permits no other exports in the file of a route.
    const to = isRoutePath(file.path)
      ? `${file.path.startsWith('src/') ? 'src/' : ''}auth${/\.[jt]s/.exec(file.path)?.[0] ?? '.ts'}`
      : file.path
    if (to !== file.path && modules.resolve(to, `./${to.split('/').at(-1)}`) !== undefined) {
      notes.push(`${file.path}: move the options to a separate module. ${to} is there already.`)
      return undefined
    }
    return { from: file.path, to, options: options.name }
  }
  const source = file.imports.find(({ names }) => names.some(({ local }) => local === options.name))
  const from = source && modules.resolve(file.path, source.source)
  if (from === undefined) {
    notes.push(`${file.path}: the module with ${options.name} was not found.`)
    return undefined
  }
  const imported = source?.names.find(({ local }) => local === options.name)?.imported ?? options.name
  return { from, to: from, options: imported }
}

function editsOf(file: SourceFile, plan: Plan, factory: FactoryCall | undefined): Edit[] {
  const { auth } = plan
  const isAuth = auth?.from === file.path
  const edits: Edit[] = [
    ...file.modules.flatMap((each) => renameModule(file, each)),
    ...file.optionTypes.map((span) => ({ ...span, text: 'NextAuth4Options' })),
    ...(isAuth && factory ? [factory.statement, ...file.handlerExports].map((span) => ({ ...withLine(file.text, span), text: '' })) : []),
  ]
  const sessions = rewriteSessions(file, plan)
  edits.push(...sessions.edits)
  for (const each of file.imports) edits.push(...rewriteImport(file, each, plan, sessions.all && sessions.edits.length > 0))
  for (const source of file.reexports) plan.notes.push(...describeReexport(file, source))
  return edits
}

function describeMiddleware({ path }: SourceFile): string {
  return `${path}: export \`auth\` of your auth module as \`middleware\` (\`proxy\` in Next 16), with \`callbacks.authorized\`.`
}

/** The client of NextAuth stays. All other modules have new places, and what they export has other names. */
function describeReexport(file: SourceFile, source: string): string[] {
  if (!/^next-auth(?:\/|$)/.test(source) || source === 'next-auth/react') return []
  return [source === 'next-auth/middleware' ? describeMiddleware(file) : `${file.path}: it exports from ${source}. Change that manually.`]
}

function renameModule(file: SourceFile, { name, ...span }: Span & { name: string }): Edit[] {
  const to = name === 'next-auth' ? 'authkernel' : name === 'next-auth/jwt' ? 'authkernel/jwt' : undefined
  return to === undefined ? [] : [{ ...span, text: quote(styleOf(file.text), to) }]
}

/** `getServerSession` becomes `auth`, which has the options already. */
function rewriteSessions(file: SourceFile, { auth, notes }: Plan): { edits: Edit[]; all: boolean } {
  if (file.sessions.length === 0) return { edits: [], all: true }
  if (!auth || auth.from === file.path || file.variables.has('auth')) {
    notes.push(`${file.path}: replace getServerSession by \`auth\` of your auth module.`)
    return { edits: [], all: false }
  }
  return {
    edits: file.sessions.map(({ args, ...span }) => ({ ...span, text: `auth(${sessionArguments(args.map(({ text }) => text))})` })),
    all: true,
  }
}

function sessionArguments(args: readonly string[]): string {
  const [first = '', second = ''] = args
  if (args.length < 3) return ''
  const [, context] = /^(\w+)\.req$/.exec(first) ?? []
  return context !== undefined && second === `${context}.res` ? context : `${first}, ${second}`
}

function rewriteImport(file: SourceFile, each: Import, plan: Plan, usesAuth: boolean): Edit[] {
  const style = styleOf(file.text)
  const { auth, modules, notes } = plan
  const isAuth = auth?.from === file.path
  const place = isAuth && auth.to !== auth.from ? moveName(each.source, auth.from, auth.to) : each.source
  const rename = (to: string): Edit[] => (to === each.source ? [] : [{ ...each.at, text: quote(style, to) }])
  if (each.source === 'next-auth' || each.source === 'next-auth/next') {
    const lines = typeLines(file, each, notes)
    // The first one takes the import of `auth`, where no other does.
    if (usesAuth && auth && !importsOptions(file, plan))
      lines.push(`import { auth } from ${quote(style, modules.nameOf(file.path, auth.to))}`)
    if (each.names.length === 0) lines.push(`import ${quote(style, 'authkernel')}`)
    const span = lines.length === 0 ? withLine(file.text, each) : each
    return [{ start: span.start, end: span.end, text: lines.map((line) => line + (lines.length === 0 ? '' : style.end)).join('\n') }]
  }
  if (each.source === 'next-auth/middleware') {
    notes.push(describeMiddleware(file))
    return []
  }
  const provider = /^next-auth\/providers\/([\w-]+)$/.exec(each.source)?.[1]
  if (provider !== undefined && provider !== 'index') {
    const id = renamedProviders[provider] ?? provider
    if (!plan.providers.has(id)) {
      notes.push(`${file.path}: there is no preset "${provider}". Write the provider as a custom object.`)
      return []
    }
    if (id === 'credentials' && /\.[cm]?tsx?$/.test(file.path))
      notes.push(
        `${file.path}: the fields that \`authorize\` gets have the type \`unknown\`. Check that they are texts, or write \`String(…)\`.`,
      )
    return rename(`authkernel/providers/${id}`)
  }
  if (each.source === 'next-auth/jwt' && each.names.some(({ imported }) => /^(?:getToken|decode|encode)$/.test(imported)))
    notes.push(
      `${file.path}: give getToken, decode and encode \`salt: ''\` and \`keyInfo: nextAuth4KeyInfo\`, and getToken \`secret\` and \`cookieName\`.`,
    )
  const other = newPlaces[each.source]
  if (other !== undefined) return rename(other)
  if (auth && modules.resolve(file.path, each.source) === auth.from) return retarget(file, each, plan, usesAuth)
  return rename(place)
}

/** Types that stay, under their new modules. */
function typeLines(file: SourceFile, { names }: Import, notes: string[]): string[] {
  const style = styleOf(file.text)
  const kept = names.filter(({ imported }) => !removedImports.test(imported))
  const types = kept.filter(({ imported }) => bindingTypes.has(imported)).map(nameText)
  const isOptions = (name: string): boolean => name === 'NextAuthOptions' || name === 'AuthOptions'
  const unknown = kept.filter(({ imported }) => !bindingTypes.has(imported) && !isOptions(imported))
  if (unknown.length > 0)
    notes.push(`${file.path}: ${unknown.map(({ imported }) => imported).join(', ')} of next-auth: see docs/migrating-from-authjs.md.`)
  return [
    ...(types.length > 0 ? [`import type { ${types.join(', ')} } from ${quote(style, binding)}`] : []),
    ...(kept.some(({ imported }) => isOptions(imported)) ? [`import type { NextAuth4Options } from ${quote(style, compat)}`] : []),
  ]
}

/** An import of the options: `auth` in their place, or beside them. */
function retarget(file: SourceFile, each: Import, { auth, modules }: Plan, usesAuth: boolean): Edit[] {
  if (!auth) return []
  const style = styleOf(file.text)
  const calls = file.sessions.filter(({ args }) => args.length > 0).length
  const names = each.names.filter(
    ({ imported, local }) => imported !== auth.options || !usesAuth || file.uses(local) > calls + localsOf(each, local),
  )
  const list = [...names.map(nameText), ...(usesAuth ? ['auth'] : [])]
  const source = auth.to === auth.from ? each.source : modules.nameOf(file.path, auth.to, each.source)
  if (!usesAuth && source === each.source) return []
  return [{ start: each.start, end: each.end, text: `import { ${list.join(', ')} } from ${quote(style, source)}${style.end}` }]
}

// A specifier without `as` is one identifier or two, as the parser counts it.
function localsOf({ names }: Import, local: string): number {
  return names.some((name) => name.local === local && name.imported === local) ? 2 : 1
}

function importsOptions(file: SourceFile, { auth, modules }: Plan): boolean {
  return file.imports.some(({ source }) => modules.resolve(file.path, source) === auth?.from)
}

/** The auth module with its exports. */
function withAuth(text: string, file: SourceFile, { options }: AuthModule): string {
  const style = styleOf(file.text)
  const imports = [
    `import NextAuth from ${quote(style, binding)}`,
    `import { nextAuth4CompatPlugin, nextAuth4Options } from ${quote(style, compat)}`,
  ].map((line) => line + style.end)
  const made = `export const { handlers, auth, signIn, signOut } = NextAuth(nextAuth4Options(${options}), nextAuth4CompatPlugin())${style.end}`
  return `${imports.join('\n')}\n${text.trim()}\n\n${made}\n`
}

function routeModule(style: Style, name: string): string {
  return `import { handlers } from ${quote(style, name)}${style.end}\n\nexport const { GET, POST } = handlers${style.end}\n`
}

/** The route of the App Router, which serves apps of the Pages Router as well. */
function routePath(path: string): string {
  if (!/(?:^|\/)pages\/api\//.test(path)) return path
  return `${path.startsWith('src/') ? 'src/' : ''}app/api/auth/[...nextauth]/route${/\.[jt]s/.exec(path)?.[0] ?? '.ts'}`
}

function isRoutePath(path: string): boolean {
  return path.includes('[...nextauth]')
}

interface Style {
  quote: string
  end: string
}

function styleOf(text: string): Style {
  const first = /\bfrom\s+(['"])[^'"\n]+['"](;?)/.exec(text)
  return { quote: first?.[1] ?? "'", end: first?.[2] ?? '' }
}

function quote({ quote: mark }: Style, text: string): string {
  return mark + text + mark
}

function nameText({ imported, local }: { imported: string; local: string }): string {
  return imported === local ? local : `${imported} as ${local}`
}

/** With the end of its line. */
function withLine(text: string, { start, end }: Span): Span {
  return { start, end: end + (/^[ \t]*\r?\n/.exec(text.slice(end))?.[0].length ?? 0) }
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  let after = text
  for (const { start, end, text: next } of edits.toSorted((a, b) => b.start - a.start))
    after = after.slice(0, start) + next + after.slice(end)
  return after
}
