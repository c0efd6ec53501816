/** Records: directories, their tokens, the resources that they provisioned, and the last calls. */
import type { RecordSpec } from 'authkernel/kernel'

/** A row of `scimDirectory`: the connection of one organization to one identity provider. */
export interface DirectoryRow {
  organizationId: string
  /** As the audit log shows it, such as "Okta". */
  name: string
  /** `DirectoryRules`. */
  rules: unknown
  /** How many users it has. */
  users: number
  /** How many groups it has. */
  groups: number
  /** The dialect that was chosen; null: as detected. */
  dialect: string | null
  /** The dialect that its requests have; null: not known yet. */
  detected: string | null
  created: Date
}
/** A row of `scimToken`. */
export interface TokenRow {
  directoryId: string
  /** SHA-256 of the token in hex. */
  digest: string
  /** The last 4 characters. */
  tail: string
  /** `read`, or `write`, which contains it. */
  scope: string
  created: Date
  expires: Date
  used: Date | null
}
/** A row of `scimClient`: a client of the authorization server that speaks for a directory. */
export interface ScimClientRow {
  directoryId: string
  clientId: string
  /** As of a token. */
  scope: string
  created: Date
}
/** A row of `scimUser`. */
export interface ScimUserRow {
  directoryId: string
  organizationId: string
  userId: string
  /** In lower case: the unique key. */
  userName: string
  externalId: string | null
  /** The email that counts, in lower case; null: there is none. */
  email: string | null
  active: boolean
  /** Attributes as the directory sent them. */
  data: unknown
  version: number
  created: Date
  modified: Date
}
/** A row of `scimEmail`: an email of a user beside the one that counts. */
export interface ScimEmailRow {
  scimUserId: string
  directoryId: string
  userId: string
  /** In lower case. */
  email: string
}
/** A row of `scimGroup`. */
export interface ScimGroupRow {
  directoryId: string
  displayName: string
  /** In lower case: the unique key. */
  nameKey: string
  externalId: string | null
  version: number
  created: Date
  modified: Date
}
/** A row of `scimMember`: a user of a group. */
export interface ScimMemberRow {
  groupId: string
  directoryId: string
  scimUserId: string
  userId: string
}
/** A row of `scimCall`: what the directory asked, without values. */
export interface CallRow {
  directoryId: string
  at: Date
  method: string
  path: string
  status: number
  /** What a rejection said; null: it was served. */
  detail: string | null
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    scimDirectory: DirectoryRow
    scimToken: TokenRow
    scimClient: ScimClientRow
    scimUser: ScimUserRow
    scimEmail: ScimEmailRow
    scimGroup: ScimGroupRow
    scimMember: ScimMemberRow
    scimCall: CallRow
  }
}

const id = { type: 'string', max: 64 } as const
const user = { type: 'string', max: 255 } as const
const name = { type: 'string', max: 255 } as const
const date = { type: 'date' } as const
const optionalName = { ...name, optional: true } as const

export const directoryTable: RecordSpec<DirectoryRow> = {
  fields: {
    organizationId: id,
    name: { type: 'string', max: 100 },
    rules: { type: 'json' },
    users: { type: 'integer', default: 0 },
    groups: { type: 'integer', default: 0 },
    dialect: { type: 'string', max: 16, optional: true },
    detected: { type: 'string', max: 16, optional: true },
    created: date,
  },
  index: [['organizationId', 'created']],
}
export const tokenTable: RecordSpec<TokenRow> = {
  fields: {
    directoryId: id,
    digest: { type: 'string', max: 64, secret: true },
    tail: { type: 'string', max: 4 },
    scope: { type: 'string', max: 8 },
    created: date,
    expires: date,
    used: { ...date, optional: true },
  },
  unique: [['digest']],
  index: [['directoryId', 'created']],
  expires: 'expires',
}
export const clientTable: RecordSpec<ScimClientRow> = {
  fields: { directoryId: id, clientId: name, scope: { type: 'string', max: 8 }, created: date },
  unique: [['clientId']],
  index: [['directoryId', 'created']],
}
export const scimUserTable: RecordSpec<ScimUserRow> = {
  fields: {
    directoryId: id,
    organizationId: id,
    userId: user,
    userName: name,
    externalId: optionalName,
    email: optionalName,
    active: { type: 'boolean' },
    data: { type: 'json' },
    version: { type: 'integer' },
    created: date,
    modified: date,
  },
  unique: [
    ['directoryId', 'userName'],
    ['directoryId', 'userId'],
  ],
  index: [['directoryId', 'created'], ['directoryId', 'modified'], ['directoryId', 'externalId'], ['directoryId', 'email'], ['userId']],
  owner: 'user',
}
export const scimEmailTable: RecordSpec<ScimEmailRow> = {
  fields: { scimUserId: id, directoryId: id, userId: user, email: name },
  unique: [['scimUserId', 'email']],
  index: [['directoryId', 'email'], ['userId']],
  owner: 'user',
}
export const scimGroupTable: RecordSpec<ScimGroupRow> = {
  fields: {
    directoryId: id,
    displayName: name,
    nameKey: name,
    externalId: optionalName,
    version: { type: 'integer' },
    created: date,
    modified: date,
  },
  unique: [['directoryId', 'nameKey']],
  index: [
    ['directoryId', 'created'],
    ['directoryId', 'modified'],
    ['directoryId', 'externalId'],
  ],
}
export const scimMemberTable: RecordSpec<ScimMemberRow> = {
  fields: { groupId: id, directoryId: id, scimUserId: id, userId: user },
  unique: [['groupId', 'scimUserId']],
  index: [['scimUserId'], ['directoryId']],
  owner: 'user',
}
export const callTable: RecordSpec<CallRow> = {
  fields: {
    directoryId: id,
    at: date,
    method: { type: 'string', max: 8 },
    path: { type: 'string', max: 255 },
    status: { type: 'integer' },
    detail: { type: 'string', max: 255, optional: true },
    expires: date,
  },
  index: [['directoryId', 'at']],
  expires: 'expires',
}
