/** The records of clients, requests, codes, grants and consents. Questions that a client polls for are in `tables-polled.ts`. */
import type { RecordSpec, Row, SessionAttributes, StampOfAccess } from 'authkernel/kernel'
import type { ClientMetadata } from './client-metadata.ts'
import type { AuthorizationDetail } from './options.ts'

/** A row of `oauthClient`; its id is the `client_id`. */
export interface OAuthClientRow {
  /** Its metadata in the form of RFC 7591, checked. */
  metadata: ClientMetadata
  /** Its name in lower case, by which administrators search. */
  label: string
  /** SHA-256 of the secret, which has 256 random bits; null: the client has none. */
  secret: string | null
  /** The same of the secret before, and until when it counts; null: there is none. */
  formerSecret: string | null
  formerUntil: Date | null
  /**
   * `host`: made by server code or an administrator. `registration`: the client registered itself (RFC 7591). `moved`: of another product, which does not
   * say who made it. `document`: it has a metadata document, and the row says alone that it is disabled. `organization`: owners of an organization made it.
   */
  source: 'host' | 'registration' | 'moved' | 'document' | 'organization'
  /** The organization that it belongs to, and ends with; null: none. */
  organizationId: string | null
  /** Only members of that organization may sign in to it. */
  membersOnly: boolean
  /** Counts changes: of two changes to the same state one is rejected. */
  version: number
  /** Since when it gets nothing; null: it works. */
  disabled: Date | null
  /** SHA-256 of the registration access token (RFC 7592); null: the client cannot change itself. */
  registration: string | null
  created: Date
  /** When a user was led back to it, or it got a token. */
  used: Date | null
  /** The end of a registered client that was never used. */
  expires: Date
}
export type OAuthClientRecord = Row<OAuthClientRow>

/** A row of `oauthRequest`: an authorization request that a client pushed (RFC 9126). Its id is a keyed hash of the `request_uri`. */
export interface OAuthRequestRow {
  clientId: string
  /** Names and values. */
  params: [name: string, value: string][]
  expires: Date
}

/** A row of `oauthCode`; its id is a keyed hash of the code. */
export interface OAuthCodeRow {
  userId: string
  clientId: string
  redirectUri: string
  challenge: string
  /** Thumbprint of the key that the client promised to prove (RFC 9449 section 10); null: none. */
  jkt: string | null
  scopes: string[]
  /** Resources that tokens may be for (RFC 8707); the issuer stands for userinfo. */
  audiences: string[]
  nonce: string | null
  /** What the client asked for beyond scopes (RFC 9396). */
  details: AuthorizationDetail[]
  /** Single claims that it asked for (OpenID Connect Core section 5.5); null: none. */
  claims: NamedClaims | null
  /** SHA-256 of the id of the browser session. */
  session: string
  attributes: SessionAttributes | null
  /** The state of the user's access when the code was made. */
  access: StampOfAccess | null
  /** Too late after that. The row stays for a while, so that a second use is noticed. */
  until: Date
  /** The grant that it gave; empty: none yet. */
  grant: string
  expires: Date
}

/** Names of single claims, by the place where the client wants them. */
export interface NamedClaims {
  idToken: string[]
  userinfo: string[]
}

/** Who acts for the subject of a token; `act` below is who acted before (RFC 8693 section 4.1). */
export interface ActClaim {
  sub: string
  act?: ActClaim
}

/** A row of `oauthGrant`: what one client has of one user, from a code to its end. It is the family of its refresh tokens. */
export interface OAuthGrantRow {
  /** Null: the client has the grant for itself (client credentials). */
  userId: string | null
  clientId: string
  scopes: string[]
  audiences: string[]
  details: AuthorizationDetail[]
  claims: NamedClaims | null
  /** `iss` of ID tokens and logout tokens. */
  issuer: string
  /** Opaque access tokens are keyed hashes under it, so that none is stored. Sealed. */
  key: string
  /** Some of its tokens may be JWTs, which services verify themselves. */
  signed: boolean
  generation: number
  hash: string
  jkt: string | null
  rotated: Date
  /** SHA-256 of the id of the browser session that it began in; empty for client credentials. */
  session: string
  provider: string
  sub: string | null
  sid: string | null
  attributes: SessionAttributes | null
  /** Who acts for the user (RFC 8693 section 4.1); null: the client itself, as the user let it in. */
  act: ActClaim | null
  /** The organization of the client that it began with; null: none. */
  organizationId: string | null
  /** SHA-256 of the certificate that the tokens are bound to (RFC 8705 section 3); null: none. */
  x5t: string | null
  /** Who may act for the user (RFC 8693 section 4.4); null: the policy of the server decides alone. */
  mayAct: { sub: string } | null
  /** Grants that it was made from, and ends with: that of the user's token, and that of the actor's. */
  parent: string | null
  actor: string | null
  started: Date
  ends: Date
  expires: Date
}
export type OAuthGrant = Row<OAuthGrantRow>

/** A row of `oauthEndedGrant`: a grant that ended while JWTs of it may live. Its id is the id of the grant. */
export interface OAuthEndedGrantRow {
  ended: Date
  expires: Date
}

/** A row of `oauthConsent`: what one user allowed one client. */
export interface OAuthConsentRow {
  userId: string
  clientId: string
  /** Name of the client when the user was asked. */
  name: string
  scopes: string[]
  audiences: string[]
  created: Date
  used: Date
}

/** A row of `oauthOrganizationConsent`: what an administrator of an organization allowed a client for all members. */
export interface OAuthOrganizationConsentRow {
  organizationId: string
  clientId: string
  /** Name of the client when it was allowed. */
  name: string
  scopes: string[]
  audiences: string[]
  /** The administrator; null: code of the host. */
  by: string | null
  created: Date
}
export type OAuthOrganizationConsent = Row<OAuthOrganizationConsentRow>

declare module 'authkernel/kernel' {
  interface Records {
    oauthClient: OAuthClientRow
    oauthRequest: OAuthRequestRow
    oauthCode: OAuthCodeRow
    oauthGrant: OAuthGrantRow
    oauthConsent: OAuthConsentRow
    oauthEndedGrant: OAuthEndedGrantRow
    oauthOrganizationConsent: OAuthOrganizationConsentRow
  }
}

/** The end of what does not expire, within the range that every database holds. */
export const never: Date = new Date(Date.UTC(9999, 0, 1))
/** Characters of a `client_id`: the URL of a metadata document is one too. */
export const maxClientId = 255

export const oauthClientTable: RecordSpec<OAuthClientRow> = {
  id: 'given',
  fields: {
    metadata: { type: 'json' },
    label: { type: 'string', max: 100, default: '' },
    secret: { type: 'string', max: 64, optional: true, secret: true },
    formerSecret: { type: 'string', max: 64, optional: true, secret: true },
    formerUntil: { type: 'date', optional: true },
    source: { type: 'string', max: 16 },
    organizationId: { type: 'string', max: 64, optional: true },
    membersOnly: { type: 'boolean', default: false },
    version: { type: 'integer', default: 1 },
    disabled: { type: 'date', optional: true },
    registration: { type: 'string', max: 64, optional: true, secret: true },
    created: { type: 'date' },
    used: { type: 'date', optional: true },
    expires: { type: 'date' },
  },
  index: [['created'], ['source', 'created'], ['label'], ['organizationId', 'created']],
  expires: 'expires',
}

export const oauthRequestTable: RecordSpec<OAuthRequestRow> = {
  id: 'given',
  fields: {
    clientId: { type: 'string', max: maxClientId },
    params: { type: 'json' },
    expires: { type: 'date' },
  },
  expires: 'expires',
}

export const oauthCodeTable: RecordSpec<OAuthCodeRow> = {
  id: 'given',
  fields: {
    userId: { type: 'string' },
    clientId: { type: 'string', max: maxClientId },
    redirectUri: { type: 'text' },
    challenge: { type: 'string', max: 43, secret: true },
    jkt: { type: 'string', max: 43, optional: true },
    scopes: { type: 'json' },
    audiences: { type: 'json' },
    nonce: { type: 'text', optional: true },
    details: { type: 'json' },
    claims: { type: 'json', optional: true },
    session: { type: 'string', max: 64 },
    attributes: { type: 'json', optional: true },
    access: { type: 'json', optional: true },
    until: { type: 'date' },
    grant: { type: 'string', max: 32 },
    expires: { type: 'date' },
  },
  index: [['userId'], ['session']],
  owner: 'user',
  expires: 'expires',
}

export const oauthGrantTable: RecordSpec<OAuthGrantRow> = {
  id: 'given',
  fields: {
    userId: { type: 'string', optional: true },
    clientId: { type: 'string', max: maxClientId },
    scopes: { type: 'json' },
    audiences: { type: 'json' },
    details: { type: 'json' },
    claims: { type: 'json', optional: true },
    issuer: { type: 'text' },
    key: { type: 'text', sealed: true, unreadable: 'absent' },
    signed: { type: 'boolean' },
    generation: { type: 'integer' },
    hash: { type: 'string', max: 64, secret: true },
    jkt: { type: 'string', max: 43, optional: true },
    rotated: { type: 'date' },
    session: { type: 'string', max: 64 },
    provider: { type: 'string', max: 128 },
    sub: { type: 'string', max: 200, optional: true },
    sid: { type: 'string', max: 200, optional: true },
    attributes: { type: 'json', optional: true },
    act: { type: 'json', optional: true },
    mayAct: { type: 'json', optional: true },
    organizationId: { type: 'string', max: 64, optional: true },
    x5t: { type: 'string', max: 43, optional: true },
    parent: { type: 'string', max: 32, optional: true },
    actor: { type: 'string', max: 32, optional: true },
    started: { type: 'date' },
    ends: { type: 'date' },
    expires: { type: 'date' },
  },
  index: [
    ['userId', 'started'],
    ['clientId', 'started'],
    ['session', 'started'],
    ['provider', 'sid', 'started'],
    ['provider', 'sub', 'started'],
    ['parent', 'started'],
    ['actor', 'started'],
  ],
  owner: { field: 'userId', of: 'user' },
  expires: 'expires',
}

export const oauthConsentTable: RecordSpec<OAuthConsentRow> = {
  fields: {
    userId: { type: 'string' },
    clientId: { type: 'string', max: maxClientId },
    name: { type: 'string', max: 100 },
    scopes: { type: 'json' },
    audiences: { type: 'json' },
    created: { type: 'date' },
    used: { type: 'date' },
  },
  unique: [['userId', 'clientId']],
  index: [
    ['userId', 'created'],
    ['clientId', 'created'],
  ],
  owner: 'user',
}

export const oauthEndedGrantTable: RecordSpec<OAuthEndedGrantRow> = {
  id: 'given',
  fields: { ended: { type: 'date' }, expires: { type: 'date' } },
  expires: 'expires',
}

export const oauthOrganizationConsentTable: RecordSpec<OAuthOrganizationConsentRow> = {
  fields: {
    organizationId: { type: 'string', max: 64 },
    clientId: { type: 'string', max: maxClientId },
    name: { type: 'string', max: 100 },
    scopes: { type: 'json' },
    audiences: { type: 'json' },
    by: { type: 'string', optional: true },
    created: { type: 'date' },
  },
  unique: [['organizationId', 'clientId']],
  index: [['organizationId', 'created'], ['clientId']],
}
