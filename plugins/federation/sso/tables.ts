/** The records: connections, domains that the host gave to a connection, policies, and the log of sign-ins. */
import type { RecordSpec } from 'authkernel/kernel'
import type { FailureCause } from './explain.ts'

/** How a connection reads users: names of claims or attributes. */
export interface AttributeMapping {
  /** What names the user for good. Default: `sub` of OpenID Connect, the NameID of SAML. */
  id?: string | undefined
  /** Default `email`; of SAML also `mail` and the names that Entra ID, Okta and directories use. */
  email?: string | undefined
  /** Default `name`; of SAML also `displayName`. */
  name?: string | undefined
  /** The list of groups. Default `groups`. */
  groups?: string | undefined
}
/** Which role a member gets. */
export interface RoleMapping {
  /** Role by group. Of several groups the first one in this order counts. */
  groups?: Readonly<Record<string, string>> | undefined
  /** Role of users without a listed group. Default `member`. */
  default?: string | undefined
  /** Sets the role at every sign-in. Default false: only when the membership is made. Owners keep their role. */
  sync?: boolean | undefined
}
/** What a connection keeps of the product that it was moved from, so that its identity provider and its users notice nothing. */
export interface FormerConnection {
  /** Id of its provider, under which accounts are stored. It never changes. */
  providerId: string
  /** Redirect URI or assertion consumer service that the identity provider knows, below the base path. Absent: the one of this plugin. */
  callbackPath?: string | undefined
  /** Entity id of this app that the identity provider knows (SAML). Absent: the address of the metadata. */
  entityId?: string | undefined
}
/** Settings of an OpenID Connect connection. */
export interface OidcSettings {
  /** Set by a move from another product. */
  former?: FormerConnection | undefined
  /** As the discovery document names it; https. */
  issuer: string
  clientId: string
  /** How the client proves itself. Default `client_secret_basic`. */
  auth?: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | undefined
  /** Default `openid profile email`. */
  scope?: string | undefined
}
/** Settings of a SAML connection. */
export interface SamlSettings {
  /** Set by a move from another product. */
  former?: FormerConnection | undefined
  /** Issuer of its responses. */
  entityId: string
  /** Its metadata is read from here, again each hour; then the members below are not set. */
  metadataUrl?: string | undefined
  /** Where requests go: SingleSignOnService. */
  signInUrl?: string | undefined
  /** How requests go there. Default `redirect`. */
  binding?: 'redirect' | 'post' | undefined
  /** SingleLogoutService. */
  signOutUrl?: string | undefined
  /** How logout messages go there. Default `redirect`. */
  signOutBinding?: 'redirect' | 'post' | undefined
  /** Certificates in PEM that responses may be signed with, 1 to 10. */
  certificates?: readonly string[] | undefined
  /** Takes responses that no request asked for, after a confirmation. Default false. */
  idpInitiated?: boolean | undefined
  /** Format of the NameID that is asked for. */
  nameIdFormat?: string | undefined
  /** Users must prove again who they are at each sign-in. Default false. */
  forceAuthn?: boolean | undefined
  /** Classes of authentication contexts, of which the response must name one; at most 10. Default: any. */
  authnContext?: readonly string[] | undefined
  /** Classes that count as two factors; at most 10. Default: none. */
  mfaContexts?: readonly string[] | undefined
}

/** A row of `ssoConnection`. */
export interface ConnectionRow {
  /** '' : of the host itself. */
  organizationId: string
  name: string
  type: 'oidc' | 'saml'
  enabled: boolean
  settings: OidcSettings | SamlSettings
  /** JSON of the client secret or the private key; null: none. */
  secret: string | null
  mapping: AttributeMapping
  roles: RoleMapping
  /** Subset of the proved domains; null: all of them. */
  domains: string[] | null
  /** Makes members of users who sign in. */
  join: boolean
  /** Signs in users with an address in a domain that no organization has proved; the address is not verified. */
  otherDomains: boolean
  /** Which product the identity provider is, such as `entra`; null: not known. */
  product: string | null
  /** The image on pages; null: the initial of the product. */
  logo: string | null
  /** A user has signed in or linked with it: accounts rest on the identity provider. */
  used: boolean
  /** `version` at the last test sign-in that passed; null: none has. */
  tested: number | null
  /** Address of the user at the company who looks after it; null: none. */
  contact: string | null
  /** Raised by every change. */
  version: number
  created: Date
}
/** A row of `ssoDomain`: a domain that the host gave to one of its connections. */
export interface HostDomainRow {
  domain: string
  connectionId: string
}
/** A row of `ssoPolicy`; its id is the id of the organization, or `host`. */
export interface PolicyRow {
  /** Users with an address in a proved domain must sign in with a connection. */
  domains: boolean
  /** All members must. */
  members: boolean
  /** Grace: it holds from then on. */
  from: Date
  /** Ids of owners who may sign in otherwise. */
  breakGlass: string[]
  /** Ids or addresses of users who may. */
  exceptions: string[]
  /** API keys of before stay. */
  keepsKeys: boolean
  /** Sessions that it forbids were ended. */
  applied: boolean
  /** Counts changes that take something from a connection: of two at the same moment one is rejected, so that both together lock no user out. */
  reductions: number
}
/** A row of `ssoSignIn`: one attempt. */
export interface SignInRow {
  connectionId: string
  at: Date
  /** `ok`, or the type of the error. */
  outcome: string
  /** What to fix, for the IT of the company; null for a success. */
  reason: string | null
  /** A code for `reason` that pages have a text for; null: none is known. */
  cause: FailureCause | null
  /** What the identity provider said; null: nothing that could be read. */
  email: string | null
  userId: string | null
  expires: Date
}

/** A row of `ssoNotice`: a mail about a certificate that was sent. Its id names the connection, the certificate and the days. */
export interface NoticeRow {
  at: Date
  expires: Date
}
/** A row of `ssoTrial`: one test sign-in. */
export interface TrialRow {
  connectionId: string
  organizationId: string
  outcome: 'open' | 'passed' | 'failed'
  /** A `TrialReport`; null while it is open. */
  report: unknown
  started: Date
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    ssoConnection: ConnectionRow
    ssoDomain: HostDomainRow
    ssoPolicy: PolicyRow
    ssoSignIn: SignInRow
    ssoTrial: TrialRow
    ssoNotice: NoticeRow
  }
}

const id = { type: 'string', max: 64 } as const
const date = { type: 'date' } as const
const json = { type: 'json' } as const
const yesNo = { type: 'boolean' } as const

export const connectionTable: RecordSpec<ConnectionRow> = {
  id: 'given',
  fields: {
    organizationId: id,
    name: { type: 'string', max: 100 },
    type: { type: 'string', max: 8 },
    enabled: yesNo,
    settings: json,
    secret: { type: 'text', sealed: true, optional: true },
    mapping: json,
    roles: json,
    domains: { type: 'json', optional: true },
    join: yesNo,
    otherDomains: yesNo,
    product: { type: 'string', max: 32, optional: true },
    logo: { type: 'text', optional: true },
    // Rows from before the field count as used: nothing of them may be changed.
    used: { type: 'boolean', default: true },
    tested: { type: 'integer', optional: true },
    contact: { type: 'string', max: 254, optional: true },
    version: { type: 'integer' },
    created: date,
  },
  index: [['organizationId', 'created']],
}
export const hostDomainTable: RecordSpec<HostDomainRow> = {
  fields: { domain: { type: 'string', max: 253 }, connectionId: id },
  unique: [['domain', 'connectionId']],
  index: [['domain'], ['connectionId']],
}
export const policyTable: RecordSpec<PolicyRow> = {
  id: 'given',
  fields: {
    domains: yesNo,
    members: yesNo,
    from: date,
    breakGlass: json,
    exceptions: json,
    keepsKeys: { type: 'boolean', default: true },
    applied: yesNo,
    reductions: { type: 'integer', default: 0 },
  },
  index: [['applied', 'from']],
}
export const noticeTable: RecordSpec<NoticeRow> = { id: 'given', fields: { at: date, expires: date }, expires: 'expires' }
export const trialTable: RecordSpec<TrialRow> = {
  id: 'given',
  fields: {
    connectionId: id,
    organizationId: id,
    outcome: { type: 'string', max: 8 },
    report: { type: 'json', sealed: true, optional: true, unreadable: 'absent' },
    started: date,
    expires: date,
  },
  index: [['connectionId', 'started']],
  expires: 'expires',
}
export const signInTable: RecordSpec<SignInRow> = {
  fields: {
    connectionId: id,
    at: date,
    outcome: { type: 'string', max: 64 },
    reason: { type: 'string', max: 500, optional: true },
    cause: { type: 'string', max: 32, optional: true },
    email: { type: 'string', max: 254, optional: true },
    userId: { type: 'string', max: 255, optional: true },
    expires: date,
  },
  index: [['connectionId', 'at']],
  owner: { field: 'userId', of: 'user' },
  expires: 'expires',
}
