/** What owners and the host send for a connection, and its checks. */
import { isSecureUrl, toAddress } from 'authkernel/kernel'
import { SsoInput } from './errors.ts'
import { readLogo } from './icons.ts'
import type { AttributeMapping, ConnectionRow, OidcSettings, RoleMapping, SamlSettings } from './tables.ts'

/** What connections of both types have. */
export interface ConnectionBasics {
  /** 1 to 100 characters, for buttons and logs. */
  name: string
  /** Names of the claims or attributes. */
  mapping?: AttributeMapping | undefined
  /** Roles of new members. */
  roles?: RoleMapping | undefined
  /** For an organization: a part of its proved domains; null, the default: all of them. For a connection of the host: its domains, required. */
  domains?: readonly string[] | null | undefined
  /** Makes members of users who sign in. Default true. */
  join?: boolean | undefined
  /** Also signs in users with an address in a domain that no organization has proved. Default false. */
  otherDomains?: boolean | undefined
  /** Default true. */
  enabled?: boolean | undefined
  /** Which product the identity provider is, for guides and logs: `entra`, `okta`. At most 32 lower-case letters, digits and dashes. Default: none. */
  product?: string | null | undefined
  /** The image on pages: a `data:` URL, inline SVG or a path on the own origin, at most 16,384 characters. Default: the initial of the product in its colour. */
  logo?: string | null | undefined
  /** Address of the user at the company who looks after it: gets mails before a certificate ends. Default: none; owners get them in every case. */
  contact?: string | null | undefined
}
/** A connection by OpenID Connect. */
export interface NewOidcConnection extends ConnectionBasics {
  /** Default `oidc`. */
  type?: 'oidc' | undefined
  /** As the identity provider publishes it; https. */
  issuer: string
  clientId: string
  /** Needed for the first two methods of `auth`. Stored encrypted, and never shown again. */
  clientSecret?: string | undefined
  /** How the client proves itself. Default `client_secret_basic`. `private_key_jwt` makes a key (ES256); its public part is at `GET /sso/keys/:connection`. */
  auth?: OidcSettings['auth']
  /** Default `openid profile email`. */
  scope?: string | undefined
}
/** A connection by SAML 2.0, with `samlPlugin()`. */
export interface NewSamlConnection extends ConnectionBasics, Partial<Omit<SamlSettings, 'metadataUrl' | 'former'>> {
  type: 'saml'
  /** The metadata of the identity provider: XML, or an https URL that is read again each hour. Set this, or `entityId`, `signInUrl` and `certificates`. */
  metadata?: string | undefined
  /** Signs our requests: PKCS #8 key and certificate in PEM. The key is stored encrypted. Default: requests are not signed. */
  signing?: { privateKey: string; certificate: string } | undefined
  /** Opens encrypted assertions: one pair in PEM, or a list of at most 3 while you change the key; our metadata shows the first. Stored encrypted. Default: none. */
  decryption?: { privateKey: string; certificate: string } | readonly { privateKey: string; certificate: string }[] | undefined
}
/** What a connection is made of. */
export type NewConnection = NewOidcConnection | NewSamlConnection | NewDraft
/** A connection without its identity provider, which is switched off: it has the addresses that the identity provider needs first. `update` adds the rest. */
export interface NewDraft extends Omit<ConnectionBasics, 'enabled'> {
  draft: true
  /** Default `oidc`. */
  type?: 'oidc' | 'saml' | undefined
}
/** What can be changed of a connection; the rest stays. */
export type ConnectionChange = Partial<Omit<NewOidcConnection, 'type'>> &
  Partial<Omit<NewSamlConnection, 'type'>> & {
    /**
     * False: a connection that was moved from another product no longer names the redirect URI or ACS and the entity id of that product. Enter the new ones at the
     * identity provider first: `callbackPath` and `metadataPath` of the answer.
     */
    formerAddress?: false | undefined
  }

/** The members of both types, and all members as they were sent, over those of the connection that is changed. */
export interface ReadConnection extends Pick<
  ConnectionRow,
  'type' | 'name' | 'mapping' | 'roles' | 'domains' | 'join' | 'otherDomains' | 'enabled' | 'product' | 'logo' | 'contact'
> {
  fields: Readonly<Record<string, unknown>>
  /** The identity provider is not known yet, and nothing of it was sent. */
  draft: boolean
}

const authMethods: readonly unknown[] = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']
const basicNames = [
  'type',
  'name',
  'mapping',
  'roles',
  'domains',
  'join',
  'otherDomains',
  'enabled',
  'product',
  'logo',
  'contact',
  'draft',
  'formerAddress',
]
const namesByType = {
  oidc: new Set([...basicNames, 'issuer', 'clientId', 'clientSecret', 'auth', 'scope']),
  saml: new Set([
    ...basicNames,
    'metadata',
    'entityId',
    'signInUrl',
    'binding',
    'signOutUrl',
    'signOutBinding',
    'certificates',
    'idpInitiated',
    'nameIdFormat',
    'forceAuthn',
    'authnContext',
    'mfaContexts',
    'signing',
    'decryption',
  ]),
}

/** Throws SsoInput that names the member. `former`: the connection that is changed. */
export function readConnection(sent: unknown, former?: ConnectionRow): ReadConnection {
  const given = Object(sent) as Record<string, unknown>
  const type = former?.type ?? given['type'] ?? 'oidc'
  if ((type !== 'oidc' && type !== 'saml') || (given['type'] ?? type) !== type)
    throw new SsoInput('sso: `type` must be "oidc" or "saml", and cannot be changed.')
  for (const name of Object.keys(given)) if (!namesByType[type].has(name)) throw new SsoInput(`sso: a connection has no \`${name}\`.`)
  const fields: Record<string, unknown> = { ...former, ...former?.settings, ...dropUndefined(given) }
  // Fields in place of an address of metadata.
  if (given['signInUrl'] !== undefined || given['certificates'] !== undefined) delete fields['metadataUrl']
  const draft = former
    ? isDraft(former) && !Object.keys(dropUndefined(given)).some((name) => !basicNames.includes(name))
    : given['draft'] === true
  if (draft && given['enabled'] === true)
    throw new SsoInput('sso: the connection has no identity provider yet, so it cannot be switched on.')
  return {
    type,
    fields,
    name: readText(fields, 'name', 100),
    mapping: readTexts(fields['mapping'] ?? {}, 'mapping', ['id', 'email', 'name', 'groups']),
    roles: readRoles(fields['roles'] ?? {}),
    domains: readDomains(fields['domains'] ?? null),
    join: readFlag(fields, 'join', true),
    otherDomains: readFlag(fields, 'otherDomains', false),
    enabled: !draft && readFlag(fields, 'enabled', true),
    product: readProduct(fields['product'] ?? null),
    logo: readLogo(fields['logo'] ?? null),
    contact: readContact(fields['contact'] ?? null),
    draft,
  }
}

/** Whether the identity provider is still unknown. */
export function isDraft({ settings }: Pick<ConnectionRow, 'settings'>): boolean {
  return issuerOf(settings) === ''
}

/** What the identity provider calls itself; '' in a draft. */
export function issuerOf(settings: OidcSettings | SamlSettings): string {
  return 'issuer' in settings ? settings.issuer : settings.entityId
}

function readContact(value: unknown): string | null {
  const address = value === null ? null : toAddress(value)
  if (address === undefined || (address !== null && address.length > 254)) throw new SsoInput('sso: `contact` must be an email address.')
  return address
}

function readProduct(value: unknown): string | null {
  if (value === null || (typeof value === 'string' && /^[a-z\d-]{1,32}$/.test(value))) return value
  throw new SsoInput('sso: `product` must be at most 32 lower-case letters, digits and dashes.')
}

/** Throws SsoInput. */
export function readOidcSettings(fields: Readonly<Record<string, unknown>>): { settings: OidcSettings; clientSecret: string | undefined } {
  const { auth = 'client_secret_basic' } = fields
  if (!authMethods.includes(auth)) throw new SsoInput('sso: `auth` must be client_secret_basic, client_secret_post or private_key_jwt.')
  const scope = fields['scope'] === undefined ? undefined : readText(fields, 'scope', 500)
  if (scope !== undefined && !scope.split(' ').includes('openid')) throw new SsoInput('sso: `scope` must include "openid".')
  return {
    settings: {
      issuer: readIssuer(fields['issuer']),
      clientId: readText(fields, 'clientId', 255),
      auth: auth as NonNullable<OidcSettings['auth']>,
      ...(scope !== undefined && { scope }),
    },
    clientSecret: fields['clientSecret'] === undefined ? undefined : readText(fields, 'clientSecret', 1000),
  }
}

function dropUndefined(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

export function readText(fields: Readonly<Record<string, unknown>>, name: string, max: number): string {
  const value = fields[name]
  if (typeof value === 'string' && value.trim() !== '' && value.length <= max && !/[\p{Cc}\p{Surrogate}]/u.test(value)) return value.trim()
  throw new SsoInput(`sso: \`${name}\` must be a text of 1 to ${max} characters.`)
}

function readIssuer(value: unknown): string {
  const url = typeof value === 'string' && value.length <= 500 && URL.canParse(value) ? new URL(value) : undefined
  if (url && isSecureUrl(url) && url.protocol === 'https:' && url.search === '' && url.hash === '' && url.username === '')
    return value as string
  throw new SsoInput('sso: `issuer` must be an https URL without a query, as the identity provider publishes it.')
}

function readTexts<K extends string>(value: unknown, name: string, keys: readonly K[]): { [P in K]?: string } {
  const found: { [P in K]?: string } = {}
  for (const [key, one] of entriesOf(value, name)) {
    if (!(keys as readonly string[]).includes(key)) throw new SsoInput(`sso: \`${name}\` has no \`${key}\`.`)
    if (one !== undefined) found[key as K] = readText({ [`${name}.${key}`]: one }, `${name}.${key}`, 255)
  }
  return found
}

function readRoles(value: unknown): RoleMapping {
  const { groups, default: fallback, sync, ...rest } = Object.fromEntries(entriesOf(value, 'roles'))
  const [other] = Object.keys(rest)
  if (other !== undefined) throw new SsoInput(`sso: \`roles\` has no \`${other}\`.`)
  if (sync !== undefined && typeof sync !== 'boolean') throw new SsoInput('sso: `roles.sync` must be true or false.')
  const byGroup = entriesOf(groups ?? {}, 'roles.groups').map(([group, role]) => [group, readRole(role)] as const)
  if (byGroup.length > 200) throw new SsoInput('sso: `roles.groups` has at most 200 groups.')
  return {
    ...(byGroup.length > 0 && { groups: Object.fromEntries(byGroup) }),
    ...(fallback !== undefined && { default: readRole(fallback) }),
    ...(sync === true && { sync }),
  }
}

/** A company's identity provider must not make owners: they decide about the connection itself. */
function readRole(value: unknown): string {
  const role = readText({ role: value }, 'role', 32)
  if (role === 'owner') throw new SsoInput('sso: `roles` must not give the role "owner".')
  return role
}

/** Domain names in small ASCII letters. */
export function readDomains(value: unknown): string[] | null {
  if (value === null) return null
  const list = Array.isArray(value) ? (value as unknown[]) : [undefined]
  if (list.length > 100) throw new SsoInput('sso: `domains` has at most 100 domains.')
  return [...new Set(list.map(readDomain))]
}

function readDomain(value: unknown): string {
  const address = typeof value === 'string' ? toAddress(`user@${value}`) : undefined
  const domain = address?.slice('user@'.length)
  if (domain === undefined || !domain.includes('.') || domain.length > 253)
    throw new SsoInput('sso: `domains` must be a list of domains such as "acme.example".')
  return domain
}

export function readFlag(fields: Readonly<Record<string, unknown>>, name: string, fallback: boolean): boolean {
  const value = fields[name] ?? fallback
  if (typeof value !== 'boolean') throw new SsoInput(`sso: \`${name}\` must be true or false.`)
  return value
}

function entriesOf(value: unknown, name: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SsoInput(`sso: \`${name}\` must be an object.`)
  return Object.entries(value)
}
