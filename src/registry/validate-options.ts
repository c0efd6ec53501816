/** What must hold before a request is served: loaded by the first one. Each mistake names the plugin or provider, the option and the remedy. */
import type { AdapterMethod } from '../contract/adapter.ts'
import type { Services } from '../contract/services.ts'
import type { SessionAbility } from '../contract/session.ts'
import { didYouMean } from '../errors/did-you-mean.ts'
import { AuthError, MissingAdapter, MissingAdapterMethods } from '../errors/index.ts'
import { cookieFault } from '../http/cookie-set.ts'
import { originFault } from '../http/hosts.ts'
import { flowOf } from '../options/providers.ts'
import { checkRecord } from '../store/record-checks.ts'
import { pluginsOf } from './handler-order.ts'
import type { Registration } from './registration.ts'
import type { Snapshot } from './snapshot.ts'
import { abilitiesOf, missingAbility } from './strategies.ts'
import type { CookieSpec } from '../contract/cookie.ts'
import type { CookieOptions, CookiesOptions, PagesOptions } from '../contract/data.ts'
import { type OptionNames, assertNames } from '../options/option-names.ts'

// bytes, seconds, milliseconds: whatever it is, it is a positive number
const numbers = [
  'session.maxAge',
  'deadlines.store',
  'deadlines.network',
  'deadlines.request',
  'limits.body',
  'limits.callbackUrl',
  'limits.providerResponse',
]
const optionalNumbers = ['jwt.maxAge', 'session.absoluteMaxAge']

/** A snapshot before it is frozen. */
type UncheckedSnapshot = Omit<Snapshot, 'fault' | 'view' | 'check' | 'found'>

/** Throws the first mistake. Only what provider types load keeps it waiting. */
export async function checkSnapshot(app: UncheckedSnapshot, records: readonly Registration[]): Promise<void> {
  checkOptions(app)
  checkMembers(app)
  for (const { stored, spec, owner } of app.draft.records.values()) checkRecord(stored.name, spec, owner)
  checkPlugins(app, records)
  checkHandlers(app, records)
  checkPlaces(app)
  app.draft.parts.check(app.config.messages)
  await checkProviders(app)
  const session = app.services.session
  if (!session) throw new AuthError('No plugin provides the service "session": `.use()` jwtSessionPlugin() or databaseSessionPlugin().')
  checkMethods(app, session.methods ?? [], 'The session strategy')
}

function checkOptions(app: UncheckedSnapshot): void {
  const { config, settings } = app
  for (const path of [...numbers, ...optionalNumbers]) {
    const value = path.split('.').reduce<unknown>((object, key) => (object as Record<string, unknown>)[key], config)
    if (value === undefined && optionalNumbers.includes(path)) continue
    if (typeof value !== 'number' || !(value > 0))
      throw new AuthError(`createAuth: \`${path}\` must be a positive number, not ${String(value)}.`)
  }
  if (!(config.session.updateAge >= 0)) throw new AuthError('createAuth: `session.updateAge` must be 0 or more seconds.')
  if (!['throw', 'null'].includes(config.sessionOnError))
    throw new AuthError(`createAuth: \`sessionOnError\` must be "throw" or "null", not ${JSON.stringify(config.sessionOnError)}.`)
  if (!settings.basePath.startsWith('/'))
    throw new AuthError(`createAuth: \`basePath\` must start with "/", not ${JSON.stringify(settings.basePath)}.`)
  const faults = [originFault(settings.origin), ...cookieModes(app).map((secure) => cookieFault(app.cookies(settings, secure)))]
  const fault = faults.find((found) => found !== undefined)
  if (fault) throw new AuthError(`createAuth: ${fault}`)
  if (config.redirectProxyUrl !== undefined && !URL.canParse(config.redirectProxyUrl)) {
    throw new AuthError(`createAuth: \`redirectProxyUrl\` is not a URL: ${JSON.stringify(config.redirectProxyUrl)}.`)
  }
  for (const [page, url] of Object.entries(config.pages)) {
    // Clients read the address of an error page with `new URL()`.
    if (typeof url !== 'string' || !/^(?:\/|https?:\/\/)/i.test(url))
      throw new AuthError(`createAuth: \`pages.${page}\` must be a path that starts with "/", or a URL, not ${JSON.stringify(url)}.`)
  }
  for (const target of config.allowedRedirects ?? []) {
    if (!URL.canParse(target) || new URL(target).origin !== target)
      throw new AuthError(`createAuth: \`allowedRedirects\` has ${JSON.stringify(target)}: write an origin, like "https://app.example".`)
  }
  for (const pattern of config.allowedHosts ?? []) {
    if (pattern.slice(1).includes('*') || (pattern.startsWith('*') && !pattern.startsWith('*.'))) {
      throw new AuthError(`createAuth: \`allowedHosts\` has ${JSON.stringify(pattern)}: write host, host:port, or one leading "*.".`)
    }
  }
}

/** Which of the two sets of cookies can be sent at all: a name with a prefix is a mistake in the plain one only. */
function cookieModes({ config: { useSecureCookies }, settings: { origin } }: UncheckedSnapshot): boolean[] {
  if (useSecureCookies !== undefined) return [useSecureCookies]
  return origin === '' ? [false, true] : [origin.startsWith('https:')]
}

function checkPlugins(app: UncheckedSnapshot, records: readonly Registration[]): void {
  for (const { name, requires } of records) {
    for (const requirement of requires) if (requirement.includes(':')) checkRequirement(app, name, requirement)
    const missing = requires.find((service) => !service.includes(':') && !app.services[service as keyof Services])
    if (missing)
      throw new AuthError(`Plugin "${name}" needs the service "${missing}", which no plugin provides. ${remedyOf(missing, name)}`)
  }
  const [record] = app.draft.records.values()
  if (record && !app.services.records)
    throw new AuthError(
      `Plugin "${record.owner}" keeps the record "${record.stored.name}", and no plugin provides the service "records". ${remedyOf('records', record.owner)}`,
    )
}

// `callbacks` of a configuration that is shared with Next.js: its binding declares the hook, and nothing else asks it.
const ofOtherBindings = ['authorized']

/** A guard with a misspelt name would reject no request. */
function checkHandlers({ draft: { handlers, bus, eventOwners } }: UncheckedSnapshot, records: readonly Registration[]): void {
  // A plugin that declares no events may tell some all the same, under names of its own.
  const isOpen = records.some(({ name, layer }) => layer === 'plugin' && !eventOwners.has(name))
  for (const { kind, name, owner, of } of handlers) {
    const known = kind === 'hook' ? bus.specs() : bus.events
    if (known.has(name) || (kind === 'on' && name === '*') || (owner === 'host' && ofOtherBindings.includes(name))) continue
    const meant = didYouMean(name, known.keys())
    if (kind === 'on' && of === undefined && isOpen && meant === '') continue
    const [what, act] = kind === 'hook' ? ['hook', 'answers'] : ['event', 'listens to']
    const who = owner === 'host' ? 'createAuth: the app' : `Plugin "${owner}"`
    const whose = of === undefined ? 'no plugin declares' : `plugin "${[of].flat().join('", "')}" does not declare`
    const remedy =
      of === undefined && owner !== 'host'
        ? ` For ${kind === 'hook' ? 'a hook' : 'an event'} of a plugin that may be absent, give \`{ of: 'its-name' }\`.`
        : ''
    throw new AuthError(`${who} ${act} the ${what} "${name}", which ${whose}.${meant}${remedy}`)
  }
}

/** A misspelt name would leave a handler where it stands, in front of what it must follow. */
function checkPlaces({ draft: { handlers, plugins } }: UncheckedSnapshot): void {
  for (const { kind, name, owner, before, after } of handlers) {
    for (const [word, order] of Object.entries({ before, after })) {
      for (const { plugin, optional } of pluginsOf(order)) {
        if (optional || plugins.has(plugin)) continue
        const who = owner === 'host' ? 'createAuth: the app' : `Plugin "${owner}"`
        const what = kind === 'hook' ? `answer the hook "${name}"` : `hear the event "${name}"`
        throw new AuthError(
          `${who} wants to ${what} ${word} the plugin ${JSON.stringify(plugin)}, which is not there.${didYouMean(String(plugin), plugins)}` +
            ` For a plugin that may be absent, give \`{ ${word}: { plugin: ${JSON.stringify(plugin)}, optional: true } }\`.`,
        )
      }
    }
  }
}

/** `session:` and an ability, or `store:` and an operation. */
function checkRequirement({ services: { session, store }, draft }: UncheckedSnapshot, plugin: string, requirement: string): void {
  const [kind, ability] = requirement.split(/:(.*)/s) as [string, string]
  if (kind === 'session' && session && !abilitiesOf(session).has(ability as SessionAbility))
    throw missingAbility(draft, `Plugin "${plugin}"`, ability as SessionAbility)
  if (kind === 'store' && !store) throw new MissingAdapter(`Plugin "${plugin}" needs an adapter. ${remedyOf('store', plugin)}`)
  if (kind === 'store' && ability === 'nullableEmail') {
    if (store?.nullableEmail) return
    throw new MissingAdapterMethods(
      `Plugin "${plugin}" makes users without an address, which the adapter cannot store. Use an adapter of authkernel.`,
    )
  }
  if (kind === 'store' && !store?.supports(ability as AdapterMethod))
    throw new MissingAdapterMethods(`Plugin "${plugin}" needs an operation that the adapter lacks: ${ability}.`)
}

const remedies: Readonly<Partial<Record<string, string>>> = {
  store: 'Give createAuth an `adapter`, or `.use(adapterPlugin(...))`.',
  mail: '`.use(mailPlugin())`; createAuth brings it.',
  mailTransport: 'Add an email provider that sends mails (`server` or an HTTP mailer), or `.use(mailPlugin({ transport }))`.',
  records:
    'Use an adapter of authkernel, or `.use(recordsPlugin(sqlRecords(db)))`, `recordsPlugin(unstorageRecords(storage))` or, for one process, `recordsPlugin(memoryRecords())`.',
}

function remedyOf(service: string, plugin: string): string {
  return remedies[service] ?? `\`.use()\` one that does, or remove "${plugin}".`
}

async function checkProviders(app: UncheckedSnapshot): Promise<void> {
  const all = [...app.providers.values()]
  for (const provider of all) {
    const flow = app.flows.get(provider.type)
    if (!flow) {
      throw new AuthError(
        `Provider "${provider.id}" has the type ${JSON.stringify(provider.type)}, which no plugin knows. ` +
          `Known types: ${[...app.flows.keys()].join(', ') || 'none'}. \`.use()\` the plugin that brings it.`,
      )
    }
    await flowOf(app.flows, provider.type).validate?.(provider, all, app.config)
    const requires = typeof flow.requires === 'function' ? flow.requires(provider) : flow.requires
    const missing = (requires ?? []).find((service) => !app.services[service])
    if (missing === 'store') {
      throw new MissingAdapter(
        `Provider "${provider.id}" (${provider.type}) needs an adapter: give createAuth an \`adapter\`, or \`.use(adapterPlugin(...))\`.`,
      )
    }
    if (missing)
      throw new AuthError(
        `Provider "${provider.id}" (${provider.type}) needs the service "${missing}", which no plugin provides. ${remedyOf(missing, provider.id)}`,
      )
    checkMethods(app, flow.methods ?? [], `Provider "${provider.id}" (${provider.type})`)
  }
}

function checkMethods(app: UncheckedSnapshot, methods: readonly AdapterMethod[], who: string): void {
  if (methods.length === 0) return
  const { store } = app
  if (!store) throw new MissingAdapter(`${who} needs an adapter: give createAuth an \`adapter\`, or \`.use(adapterPlugin(...))\`.`)
  const missing = methods.filter((method) => !store.supports(method))
  if (missing.length > 0) throw new MissingAdapterMethods(`${who} needs operations that the adapter lacks: ${missing.join(', ')}.`)
}

const cookieNames: OptionNames<CookiesOptions> = {
  sessionToken: true,
  callbackUrl: true,
  csrfToken: true,
  pkceCodeVerifier: true,
  state: true,
  nonce: true,
  webauthnChallenge: true,
}
const cookieAttributes: OptionNames<CookieOptions> = {
  maxAge: true,
  expires: true,
  domain: true,
  path: true,
  httpOnly: true,
  secure: true,
  partitioned: true,
  priority: true,
  sameSite: true,
  encode: true,
}
const pageNames: Readonly<Partial<Record<keyof PagesOptions, true>>> = {
  signIn: true,
  signOut: true,
  error: true,
  verifyRequest: true,
  verifyConfirm: true,
  newUser: true,
}
// What other libraries call them.
const otherPages: Readonly<Record<string, string>> = {
  login: 'It is called `pages.signIn`.',
  logout: 'It is called `pages.signOut`.',
  register: 'It is called `pages.newUser`.',
}
const cookieMembers: OptionNames<CookieSpec> & { name: true } = {
  name: true,
  path: true,
  prefix: true,
  sameSite: true,
  chunked: true,
  maxAge: true,
  key: true,
}
const cookieWords: Readonly<Record<string, readonly unknown[]>> = { prefix: ['host', 'secure'], sameSite: ['lax', 'strict', 'none'] }

/** Throws AuthError for a cookie or page that nothing has, for an unknown attribute, and for the declaration of a cookie that is misspelt. */
function checkMembers({ config, draft }: Pick<Snapshot, 'config'> & { draft: Snapshot['draft'] }): void {
  const declared = [...draft.ownCookies.values()]
  for (const { value, owner } of declared) {
    const who = `Plugin "${owner}": the cookie "${value.spec.name}"`
    assertNames(who, value.spec, cookieMembers)
    for (const [name, known] of Object.entries(cookieWords)) {
      const given: unknown = value.spec[name as keyof CookieSpec]
      if (given !== undefined && !known.includes(given))
        throw new AuthError(
          `${who} has \`${name}: ${JSON.stringify(given)}\`. Known: ${known.map((one) => JSON.stringify(one)).join(', ')}.`,
        )
    }
    const { path } = value.spec
    if (path !== undefined && path !== 'base' && path !== 'root' && !String(path).startsWith('/'))
      throw new AuthError(`${who} has \`path: ${JSON.stringify(path)}\`. Write "base", "root", or a path that starts with "/".`)
  }
  const keys = Object.fromEntries(declared.map(({ value }) => [value.spec.key, true]))
  assertNames('createAuth', config.cookies, { ...cookieNames, ...keys }, 'cookies')
  for (const [key, cookie] of Object.entries(config.cookies as Record<string, { options?: object } | undefined>)) {
    if (cookie === undefined) continue
    assertNames('createAuth', cookie, { name: true, options: true }, `cookies.${key}`)
    if (cookie.options !== undefined) assertNames('createAuth', cookie.options, cookieAttributes, `cookies.${key}.options`)
  }
  const drawn = Object.fromEntries([...draft.parts.parts().pages.keys()].map((name) => [name, true]))
  assertNames('createAuth', config.pages, { ...pageNames, ...drawn }, 'pages', otherPages)
}
