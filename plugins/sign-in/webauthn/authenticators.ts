/** Names and pictures of authenticators by AAGUID, from the list that the FIDO community keeps at passkeydeveloper/passkey-authenticator-aaguids. */
import type { AnyContext, ProviderOf } from 'authkernel/kernel'

/** What the list says of one authenticator. */
export interface Authenticator {
  name: string
  /** A `data:` URL of an image; undefined: the list has none. */
  icon: string | undefined
}

// Of an authenticator that does not say what it is (WebAuthn section 6.5.1.3).
const anonymous = '00000000-0000-0000-0000-000000000000'
const lists = new WeakMap<object, Promise<ReadonlyMap<string, Authenticator>>>()

/** Undefined: the authenticator does not say what it is, is not in the list, or there is no list. */
export async function findAuthenticator(ctx: AnyContext, aaguid: string | null | undefined): Promise<Authenticator | undefined> {
  if (!aaguid || aaguid === anonymous) return undefined
  return (await listOf(ctx)).get(aaguid.toLowerCase())
}

/** The list of the host, else of the package `aaguids`: loaded once for each configuration. */
function listOf(ctx: AnyContext): Promise<ReadonlyMap<string, Authenticator>> {
  const known = lists.get(ctx.app)
  if (known) return known
  const list = loadList(ctx)
  lists.set(ctx.app, list)
  return list
}

async function loadList(ctx: AnyContext): Promise<ReadonlyMap<string, Authenticator>> {
  const providers = [...ctx.app.providers.values()].filter((one): one is ProviderOf<'webauthn'> => one.type === 'webauthn')
  const load = providers.find(({ authenticators }) => authenticators)?.authenticators
  try {
    return readList(await (load ? load() : importPackage('aaguids')))
  } catch (error) {
    // An optional package that is missing is no fault; a list of the host that cannot be loaded is one.
    if (load) ctx.logger.error(error as Error)
    return new Map()
  }
}

// Not by a literal: a bundler would demand a package that is optional.
async function importPackage(name: string): Promise<unknown> {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ name)
}

/** `{ <aaguid>: name }`, or `{ <aaguid>: { name, icon_light } }` as the community's file has it; a module may have it as its default. */
function readList(given: unknown): ReadonlyMap<string, Authenticator> {
  const { default: list = given } = Object(given) as { default?: unknown }
  const entries = Object.entries(Object(list) as Record<string, unknown>).map(
    ([aaguid, entry]) => [aaguid.toLowerCase(), readEntry(entry)] as const,
  )
  return new Map(entries.filter((entry): entry is [string, Authenticator] => entry[1] !== undefined))
}

function readEntry(entry: unknown): Authenticator | undefined {
  const { name, icon_light: icon } = (typeof entry === 'string' ? { name: entry } : Object(entry)) as {
    name?: unknown
    icon_light?: unknown
  }
  if (typeof name !== 'string' || name === '') return undefined
  // Anything else would make browsers ask a stranger's server for the picture.
  return { name: name.slice(0, 100), icon: typeof icon === 'string' && /^data:image\//.test(icon) ? icon : undefined }
}
